#include "agents/learn/network/vision_plan.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <numeric>

#include "agents/hub/pictures/place_taps.h"

namespace agon::agents {
namespace {

using at::Tensor;
using Segment = std::vector<std::int64_t>;  // merged units in natural order that attend to one another

// base^(-2i / size) for i < size / 2, rounded as torch rounds it.
Tensor inverse_frequencies(double base, std::int64_t size) {
  return at::pow(base, at::arange(0, size, 2, at::kFloat) / static_cast<double>(size)).reciprocal();
}

Tensor to_tensor(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }

// Row and column of every patch, rows in merge-block order, [P, 2].
Tensor patch_positions(std::span<const ImageGrid> grids, int merge) {
  std::vector<std::int64_t> flat;
  for (const ImageGrid& grid : grids)
    for (int frame = 0; frame < grid.t; ++frame)
      for (int block_row = 0; block_row < grid.h; block_row += merge)
        for (int block_column = 0; block_column < grid.w; block_column += merge)
          for (int cell = 0; cell < merge * merge; ++cell) {
            flat.push_back(block_row + cell / merge);
            flat.push_back(block_column + cell % merge);
          }
  return to_tensor(flat).view({-1, 2});
}

// Segments of `window` x `window` merged units, frame by frame.
std::vector<Segment> cut_windows(std::span<const ImageGrid> grids, int merge, int window) {
  std::vector<Segment> segments;
  std::int64_t base = 0;
  for (const ImageGrid& grid : grids) {
    const int rows = grid.h / merge, columns = grid.w / merge;
    for (int frame = 0; frame < grid.t; ++frame, base += std::int64_t{rows} * columns)
      for (int top = 0; top < rows; top += window)
        for (int left = 0; left < columns; left += window) {
          Segment& segment = segments.emplace_back();
          for (int row = top; row < std::min(top + window, rows); ++row)
            for (int column = left; column < std::min(left + window, columns); ++column)
              segment.push_back(base + std::int64_t{row} * columns + column);
        }
  }
  return segments;
}

std::vector<Segment> cut_frames(std::span<const ImageGrid> grids, int merge) {
  std::vector<Segment> segments;
  std::int64_t base = 0;
  for (const ImageGrid& grid : grids)
    for (int frame = 0; frame < grid.t; ++frame) {
      Segment& segment = segments.emplace_back(static_cast<std::size_t>(grid.h / merge * (grid.w / merge)));
      std::iota(segment.begin(), segment.end(), base);
      base += static_cast<std::int64_t>(segment.size());
    }
  return segments;
}

Tensor rows_of_units(const std::vector<std::int64_t>& units, int unit) {
  return (to_tensor(units).unsqueeze(1) * unit + at::arange(unit)).flatten();
}

// Groups segments of equal length, so that a run of them is one batch.
AttentionLayout make_layout(std::vector<Segment> segments, const RotaryTable& natural, int unit) {
  std::stable_sort(segments.begin(), segments.end(),
                   [](const Segment& a, const Segment& b) { return a.size() < b.size(); });
  AttentionLayout layout;
  for (const Segment& segment : segments) {
    layout.units.insert(layout.units.end(), segment.begin(), segment.end());
    const auto length = static_cast<std::int64_t>(segment.size()) * unit;
    if (layout.runs.empty() || layout.runs.back().length != length) layout.runs.push_back({length, 0});
    ++layout.runs.back().count;
  }
  const Tensor rows = rows_of_units(layout.units, unit);
  layout.rotary = {natural.cos.index_select(0, rows), natural.sin.index_select(0, rows)};
  return layout;
}

Tensor text_frequencies(const TextConfig& config) {
  Tensor frequencies = inverse_frequencies(config.rope_theta, config.head_dim());
  if (!config.rope_scaling) return frequencies;
  for (float& frequency :
       std::span(frequencies.mutable_data_ptr<float>(), static_cast<std::size_t>(frequencies.numel())))
    frequency = scaled_frequency(frequency, *config.rope_scaling);
  return frequencies;
}

void add_places(std::span<const ImageGrid> grids, const VisionConfig& config, at::Device device, VisionPlan& plan) {
  std::vector<std::int64_t> places;
  std::vector<float> weights;
  for (const ImageGrid& grid : grids)
    for (const PlaceTaps& taps : place_taps(grid, config)) {
      places.insert(places.end(), taps.places.begin(), taps.places.end());
      weights.insert(weights.end(), taps.weights.begin(), taps.weights.end());
    }
  plan.places = to_tensor(places).view({-1, 4}).to(device);
  plan.place_weights = at::tensor(weights, at::kFloat).view({-1, 4}).to(device);
}

}  // namespace

RotaryTable text_rotary(const Tensor& positions, const TextConfig& config) {
  const std::vector<int> axes = frequency_axes(config);
  const Tensor order = to_tensor({axes.begin(), axes.end()}).to(positions.device());
  const Tensor by_axis = positions.flatten(1).t().to(at::kFloat);  // [B * S, 3]
  const Tensor angles = by_axis.index_select(1, order) * text_frequencies(config).to(positions.device());
  return {angles.cos(), angles.sin()};
}

Tensor VisionPlan::reorder(const Tensor& x, const AttentionLayout* from, const AttentionLayout* to) const {
  const auto units = static_cast<std::int64_t>(full.units.size());
  std::vector<std::int64_t> place(full.units.size()), order(full.units.size());
  std::iota(place.begin(), place.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  if (from)
    for (std::size_t i = 0; i < place.size(); ++i)
      place[static_cast<std::size_t>(from->units[i])] = static_cast<std::int64_t>(i);
  if (to)
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = place[static_cast<std::size_t>(to->units[i])];
  else
    order = place;
  if (std::is_sorted(order.begin(), order.end())) return x;
  return x.reshape({units, -1}).index_select(0, to_tensor(order).to(x.device())).view(x.sizes());
}

VisionPlan make_vision_plan(std::span<const ImageGrid> grids, const VisionConfig& config, at::Device device) {
  const int merge = config.spatial_merge_size, unit = merge * merge;
  const int head_dim = config.hidden_size / config.num_heads;
  const Tensor angles =
      (patch_positions(grids, merge).to(at::kFloat).unsqueeze(2) * inverse_frequencies(10000.0, head_dim / 2))
          .flatten(1);
  const RotaryTable natural{angles.cos(), angles.sin()};
  VisionPlan plan;
  plan.unit = unit;
  plan.grids.assign(grids.begin(), grids.end());
  plan.full = make_layout(cut_frames(grids, merge), natural, unit);
  plan.window = plan.full;
  if (config.tower->has_windows)
    plan.window = make_layout(cut_windows(grids, merge, config.window_size / merge / config.patch_size), natural, unit);
  for (int block = 0; block < config.depth; ++block) plan.full_attention.push_back(config.sees_whole_frame(block));
  if (config.tower->learns_places) add_places(grids, config, device, plan);
  for (RotaryTable* table : {&plan.full.rotary, &plan.window.rotary})
    *table = {table->cos.to(device), table->sin.to(device)};
  return plan;
}

}  // namespace agon::agents
