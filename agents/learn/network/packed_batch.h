// agents/learn/network/packed_batch.h - packs groups of a prompt and its responses into one batch without padding: each
// prompt once, then its responses. Letters: R rows (tokens) of the batch, T response tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/learn/network/packed_attention.h"
#include "agents/learn/network/packed_group.h"

namespace agon::agents {

// Rows in the order group, prompt, response 1, response 2, ...
struct PackedBatch {
  at::Tensor ids, positions;  // [R], [3, R] int64
  at::Tensor patches;         // of all pictures in the rows' order; undefined: no picture
  std::vector<ImageGrid> grids;
  std::shared_ptr<const PackedLayout> layout;
  // For every response token, in the order group, response, token: the row whose hidden state predicts it (the prompt's
  // last row for a response's first token), and the token's id.
  at::Tensor predictors, targets;  // [T] int64
  PackedBatch to(at::Device device) const;
};
// Throws Error for an empty prompt with responses, for unequal numbers of ids and positions, and for image tokens that
// do not match the pictures.
PackedBatch make_packed_batch(std::span<const PackedGroup> groups, const ModelConfig& config);

// Builds a batch from any trees (agents/learn/network/packed_attention.h).
class PackedBatchBuilder {
 public:
  explicit PackedBatchBuilder(const ModelConfig& config) : config_(config) {}  // kept by reference

  PackedSegment add_root(const PackedSequence& sequence);                  // starts a tree
  PackedSegment add(const PackedSequence& sequence, std::int64_t prefix);  // a segment of the last tree
  void predict(std::int64_t row, std::int32_t token);                      // appends to predictors and targets
  PackedBatch take();

 private:
  at::Tensor patches() const;

  const ModelConfig& config_;
  PackedLayout layout_;
  std::vector<std::int64_t> ids_, positions_, predictors_, targets_;
  std::vector<std::shared_ptr<const PatchedImage>> images_;
};

}  // namespace agon::agents
