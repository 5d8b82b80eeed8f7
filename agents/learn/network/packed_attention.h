// agents/learn/network/packed_attention.h - causal attention over sequences that share prefixes: each shared prefix is
// stored once, and its keys serve all its continuations. Letters: R rows of all sequences, d width of a head.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace agon::agents {

// Consecutive rows that continue one sequence. The segments of a tree are read in order, with the visible rows on a
// stack: a segment first cuts the stack to `prefix` rows, then pushes its own rows. Each row sees itself and all rows
// below it on the stack. For example, a prompt has prefix 0, and each of its responses has the prompt's length as
// prefix. Branches off a response follow it, longest prefix first.
struct PackedSegment {
  std::int64_t begin = 0, length = 0;  // rows
  std::int64_t prefix = 0;
};
using PackedTree = std::vector<PackedSegment>;

struct PackedLayout {
  std::vector<PackedTree> trees;
  std::int64_t rows = 0;
};
// Throws Error unless every row is in exactly one segment and every prefix is on the stack.
void check_layout(const PackedLayout& layout);

// The attention of one batch, for all layers. In fp32 on the CPU, each key-value head of each tree is one task; its
// memory is linear in the longest sequence, in the backward pass too. Other types and devices use
// scaled_dot_product_attention on the trees as padded rows with a mask.
class PackedAttention {
 public:
  PackedAttention(std::shared_ptr<const PackedLayout> layout, const at::TensorOptions& options);
  // queries [R, heads, d], keys and values [R, key-value heads, d] -> [R, heads * d].
  at::Tensor operator()(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) const;

 private:
  at::Tensor masked(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values) const;

  std::shared_ptr<const PackedLayout> layout_;
  at::Tensor padded_rows_;  // [trees, longest]: the row at each place, 0 if there is none
  at::Tensor places_;       // [R]: index of each row in padded_rows_, flattened
  at::Tensor visible_;      // [trees, 1, longest, longest]
};

}  // namespace agon::agents
