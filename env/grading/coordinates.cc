#include "env/grading/coordinates.h"

namespace agon::env {

std::pair<double, double> extent(Coordinates scale, const std::optional<std::pair<double, double>>& size) {
  if (scale == Coordinates::pixels) return size.value_or(std::pair(1.0, 1.0));
  return scale == Coordinates::unit ? std::pair(1.0, 1.0) : std::pair(1000.0, 1000.0);
}

std::pair<double, double> growth(Coordinates from, Coordinates to,
                                 const std::optional<std::pair<double, double>>& size) {
  if (from == to) return {1, 1};
  const auto [width, height] = extent(from, size);
  const auto [new_width, new_height] = extent(to, size);
  return {new_width / width, new_height / height};
}

}  // namespace agon::env
