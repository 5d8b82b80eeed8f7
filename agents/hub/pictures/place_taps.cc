#include "agents/hub/pictures/place_taps.h"

#include <algorithm>
#include <cmath>

namespace agon::agents {
namespace {

struct AxisTaps {
  std::array<std::int64_t, 2> places;
  std::array<float, 2> weights;
};

// The first and the last of `size` patches coincide with the first and the last of `side` places.
AxisTaps axis_taps(int patch, int size, int side) {
  const float place =
      static_cast<float>(patch) * static_cast<float>(side - 1) / static_cast<float>(std::max(1, size - 1));
  const auto before = static_cast<std::int64_t>(std::floor(place));
  const float share = place - static_cast<float>(before);
  return {{before, std::min<std::int64_t>(before + 1, side - 1)}, {1 - share, share}};
}

}  // namespace

std::vector<PlaceTaps> place_taps(const ImageGrid& grid, const VisionConfig& config) {
  const int merge = config.spatial_merge_size, side = config.places_a_side();
  std::vector<PlaceTaps> all;
  all.reserve(static_cast<std::size_t>(grid.patches()));
  const auto add = [&](const AxisTaps& row, const AxisTaps& column) {
    PlaceTaps& taps = all.emplace_back();
    for (std::size_t i = 0; i < 4; ++i) {
      taps.places[i] = row.places[i / 2] * side + column.places[i % 2];
      taps.weights[i] = row.weights[i / 2] * column.weights[i % 2];
    }
  };
  for (int frame = 0; frame < grid.t; ++frame)
    for (int top = 0; top < grid.h; top += merge)
      for (int left = 0; left < grid.w; left += merge)
        for (int cell = 0; cell < merge * merge; ++cell)
          add(axis_taps(top + cell / merge, grid.h, side), axis_taps(left + cell % merge, grid.w, side));
  return all;
}

}  // namespace agon::agents
