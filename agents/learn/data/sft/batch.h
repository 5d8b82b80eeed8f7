// agents/learn/data/sft/batch.h - packs the training sequences of one source into padded tensors.
// Letters: B sequences, S positions, N trained tokens, M merged vision tokens of all pictures.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learn/data/sft/data.h"

namespace agon::agents {

inline constexpr int kBoxBins = 25;  // bins per coordinate in the auxiliary loss

struct SftBatch {
  at::Tensor ids, positions;          // [B, S], [3, B, S] int64
  std::vector<std::int64_t> lengths;  // [B]
  at::Tensor patches;                 // [P, C*T*p*p]
  std::vector<ImageGrid> grids;
  at::Tensor predictors;  // [N] rows of the flattened [B*S] hidden states, each followed by a trained token
  at::Tensor targets;     // [N] those tokens
  at::Tensor cell_class;  // [M] class of the object whose centre lies in the cell; `classes` if there is none
  at::Tensor cell_box;    // [M, 4] its box in kBoxBins bins per side; -1 if there is none
};

SftBatch make_batch(std::span<const SftSequence> sequences, const ModelConfig& config, int classes);

}  // namespace agon::agents
