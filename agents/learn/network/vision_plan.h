// agents/learn/network/vision_plan.h - the parts of vision attention that depend only on picture sizes: rotary tables,
// and the orders of the patch rows for full and for window attention. Each order puts segments of equal length next to
// each other, so that they are computed as one batch.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"

namespace agon::agents {

// cos and sin of the angles, fp32 [rows, head_dim / 2]: column i rotates the pair (i, i + head_dim / 2).
struct RotaryTable {
  at::Tensor cos, sin;
};
// positions [3, B, S] -> rows B * S, on their device; each column uses the position of its axis (frequency_axes).
RotaryTable text_rotary(const at::Tensor& positions, const TextConfig& config);

struct AttentionLayout {
  struct Run {
    std::int64_t length = 0, count = 0;  // segments of `length` patches, `count` of them one after another
    bool operator==(const Run&) const = default;
  };
  std::vector<std::int64_t> units;  // the merged units (natural numbering) in the order of this layout
  std::vector<Run> runs;
  RotaryTable rotary;  // in this layout's order
};

struct VisionPlan {
  std::vector<ImageGrid> grids;
  AttentionLayout full, window;      // equal if every picture fits into one window, or without windows
  std::vector<bool> full_attention;  // by block
  // The patches' position embeddings (agents/hub/pictures/place_taps.h) in natural order, [P, 4]: int64 indices and
  // fp32 weights. Undefined if the tower has no learned position embeddings.
  at::Tensor places, place_weights;
  // Rows [P, ...] from one layout's order to another's; nullptr is the natural order. Returns x itself if the orders
  // are equal.
  at::Tensor reorder(const at::Tensor& x, const AttentionLayout* from, const AttentionLayout* to) const;
  int unit = 4;  // patches of a merged unit
};
// The plan with its tables on `device`. REQUIRES: grids made of whole merge blocks.
VisionPlan make_vision_plan(std::span<const ImageGrid> grids, const VisionConfig& config, at::Device device = at::kCPU);

}  // namespace agon::agents
