#include "agents/learn/data/sft/batch.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

namespace agon::agents {
namespace {

void fill_ids(SftBatch& batch, std::span<const SftSequence> sequences) {
  const auto rows = static_cast<std::int64_t>(sequences.size());
  std::int64_t longest = 0;
  for (const SftSequence& sequence : sequences)
    longest = std::max(longest, static_cast<std::int64_t>(sequence.ids.size()));
  batch.ids = at::zeros({rows, longest}, at::kLong);
  batch.positions = at::zeros({3, rows, longest}, at::kLong);
  auto ids = batch.ids.accessor<std::int64_t, 2>();
  auto positions = batch.positions.accessor<std::int64_t, 3>();
  std::vector<std::int64_t> predictors, targets;
  for (std::int64_t row = 0; row < rows; ++row) {
    const SftSequence& sequence = sequences[static_cast<std::size_t>(row)];
    const auto length = static_cast<std::int64_t>(sequence.ids.size());
    batch.lengths.push_back(length);
    for (std::int64_t at = 0; at < length; ++at) {
      const auto index = static_cast<std::size_t>(at);
      ids[row][at] = sequence.ids[index];
      for (std::int64_t axis = 0; axis < 3; ++axis)
        positions[axis][row][at] = sequence.positions[index][static_cast<std::size_t>(axis)];
      if (at == 0 || !sequence.trained[index]) continue;
      predictors.push_back(row * longest + at - 1);
      targets.push_back(sequence.ids[index]);
    }
  }
  batch.predictors = at::tensor(predictors, at::kLong);
  batch.targets = at::tensor(targets, at::kLong);
}

void fill_patches(SftBatch& batch, std::span<const SftSequence> sequences) {
  std::size_t values = 0, rows = 0;
  for (const SftSequence& sequence : sequences)
    for (const auto& image : sequence.images) {
      values += image->patches.size();
      rows += static_cast<std::size_t>(image->grid.patches());
      batch.grids.push_back(image->grid);
    }
  if (rows == 0) return;
  batch.patches = at::empty({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(values / rows)}, at::kFloat);
  auto* to = batch.patches.mutable_data_ptr<float>();
  for (const SftSequence& sequence : sequences)
    for (const auto& image : sequence.images) to = std::copy(image->patches.begin(), image->patches.end(), to);
}

std::int64_t bin_of(float share) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * kBoxBins), 0, kBoxBins - 1);
}

void fill_cells(SftBatch& batch, std::span<const SftSequence> sequences, int merge, int classes) {
  std::int64_t cells = 0;
  for (const ImageGrid& grid : batch.grids) cells += grid.patches() / (merge * merge);
  batch.cell_class = at::full({cells}, classes, at::kLong);
  batch.cell_box = at::full({cells, 4}, -1, at::kLong);
  auto cell_class = batch.cell_class.accessor<std::int64_t, 1>();
  auto cell_box = batch.cell_box.accessor<std::int64_t, 2>();
  std::int64_t first = 0;
  std::size_t picture = 0;
  for (const SftSequence& sequence : sequences)
    for (const auto& scene : sequence.scenes) {
      const ImageGrid& grid = batch.grids[picture++];
      const int wide = grid.w / merge, high = grid.h / merge;
      for (const SceneObject& object : scene) {
        const int column =
            std::clamp(static_cast<int>((object.x1 + object.x2) / 2 * static_cast<float>(wide)), 0, wide - 1);
        const int row =
            std::clamp(static_cast<int>((object.y1 + object.y2) / 2 * static_cast<float>(high)), 0, high - 1);
        const std::int64_t cell = first + row * wide + column;
        cell_class[cell] = object.object_class;
        const float corners[4] = {object.x1, object.y1, object.x2, object.y2};
        for (int side = 0; side < 4; ++side) cell_box[cell][side] = bin_of(corners[side]);
      }
      first += static_cast<std::int64_t>(wide) * high;
    }
}

}  // namespace

SftBatch make_batch(std::span<const SftSequence> sequences, const ModelConfig& config, int classes) {
  SftBatch batch;
  fill_ids(batch, sequences);
  fill_patches(batch, sequences);
  fill_cells(batch, sequences, config.vision ? config.vision->spatial_merge_size : 1, classes);
  return batch;
}

}  // namespace agon::agents
