#include "agents/learn/network/packed_batch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

#include "core/error.h"

namespace agon::agents {
namespace {

void check_sequence(const PackedSequence& sequence, const ModelConfig& config) {
  if (sequence.positions.size() != sequence.ids.size())
    throw Error("packed batch: {} positions for {} ids.", sequence.positions.size(), sequence.ids.size());
  const int merge = config.vision ? config.vision->spatial_merge_size : 1;
  std::int64_t expected = 0;
  for (const ImageGrid& grid : grids_of(sequence.images)) expected += grid.patches() / (merge * merge);
  const auto tokens =
      std::count_if(sequence.ids.begin(), sequence.ids.end(), [&](std::int32_t id) { return config.shows(id); });
  if (tokens != expected)
    throw Error("packed batch: {} image tokens in a sequence, its {} pictures give {}.", tokens, sequence.images.size(),
                expected);
}

void add_group(PackedBatchBuilder& builder, const PackedGroup& group) {
  if (group.prompt.ids.empty() && !group.responses.empty())
    throw Error("packed batch: a group of {} responses has an empty prompt.", group.responses.size());
  const PackedSegment prompt = builder.add_root(group.prompt);
  for (const PackedSequence& response : group.responses) {
    const PackedSegment segment = builder.add(response, prompt.length);
    for (std::int64_t i = 0; i < segment.length; ++i)
      builder.predict(i == 0 ? prompt.begin + prompt.length - 1 : segment.begin + i - 1,
                      response.ids[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

PackedSegment PackedBatchBuilder::add_root(const PackedSequence& sequence) {
  layout_.trees.emplace_back();
  return add(sequence, 0);
}

PackedSegment PackedBatchBuilder::add(const PackedSequence& sequence, std::int64_t prefix) {
  check_sequence(sequence, config_);
  ids_.insert(ids_.end(), sequence.ids.begin(), sequence.ids.end());
  for (const auto& position : sequence.positions) positions_.insert(positions_.end(), position.begin(), position.end());
  images_.insert(images_.end(), sequence.images.begin(), sequence.images.end());
  const auto length = static_cast<std::int64_t>(sequence.ids.size());
  return layout_.trees.back().emplace_back(PackedSegment{std::ssize(ids_) - length, length, prefix});
}

void PackedBatchBuilder::predict(std::int64_t row, std::int32_t token) {
  predictors_.push_back(row);
  targets_.push_back(token);
}

PackedBatch PackedBatchBuilder::take() {
  layout_.rows = std::ssize(ids_);
  PackedBatch batch;
  batch.ids = at::tensor(ids_, at::kLong);
  batch.positions = at::tensor(positions_, at::kLong).view({layout_.rows, 3}).t().contiguous();
  batch.predictors = at::tensor(predictors_, at::kLong);
  batch.targets = at::tensor(targets_, at::kLong);
  batch.grids = grids_of(images_);
  if (!images_.empty()) batch.patches = patches();
  batch.layout = std::make_shared<const PackedLayout>(std::move(layout_));
  return batch;
}

at::Tensor PackedBatchBuilder::patches() const {
  std::int64_t rows = 0, values = 0;
  for (const auto& image : images_) {
    rows += image->grid.patches();
    values += std::ssize(image->patches);
  }
  at::Tensor all = at::empty({rows, values / std::max<std::int64_t>(1, rows)}, at::kFloat);
  auto* to = all.mutable_data_ptr<float>();
  for (const auto& image : images_) to = std::copy(image->patches.begin(), image->patches.end(), to);
  return all;
}

PackedBatch PackedBatch::to(at::Device device) const {
  PackedBatch moved = *this;
  for (at::Tensor* tensor : {&moved.ids, &moved.positions, &moved.patches, &moved.predictors, &moved.targets})
    if (tensor->defined()) *tensor = tensor->to(device);
  return moved;
}

PackedBatch make_packed_batch(std::span<const PackedGroup> groups, const ModelConfig& config) {
  PackedBatchBuilder builder(config);
  for (const PackedGroup& group : groups) add_group(builder, group);
  return builder.take();
}

}  // namespace agon::agents
