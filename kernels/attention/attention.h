// kernels/attention/attention.h - softmax(q K^T * scale) V of queries over keys kept in blocks of 16.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/aligned.h"

namespace agon::kernels {

inline constexpr int kKeyBlock = 16;  // keys
// A block of one head: keys as [head_dim, 16], then values as [16, head_dim rounded up to 16].
std::int64_t key_block_floats(int head_dim);
void put_key(const float* key, const float* value, int head_dim, float* block, int slot);  // slot 0 .. 15

// The first `keys` keys of a list of pages, 16 a page; the head's block lies `offset` floats into each page.
struct KeyRun {
  const float* const* pages = nullptr;
  std::int64_t offset = 0, keys = 0;
};
// One vector of head_dim: what it asks, where its answer goes, and the keys that it sees after the shared ones.
struct AttentionQuery {
  const float* query = nullptr;
  float* out = nullptr;
  KeyRun own;
};
// Every query sees all keys of `shared`, then those of its own run (together at least one); shared keys are read once
// for several queries. A query's result depends on itself and its keys alone, as long as all are finite: not on its
// neighbours (which are read together where their own runs begin on the same pages), nor on where its keys are split
// into shared and own, as long as that is at a multiple of 16. `scratch` grows as needed and belongs to one thread.
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, int head_dim, float scale,
               AlignedFloats& scratch);

namespace reference {  // in double, with std::exp
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, int head_dim, float scale);
}  // namespace reference

}  // namespace agon::kernels
