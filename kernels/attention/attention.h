// kernels/attention/attention.h - softmax(q K^T * scale) V of a few queries over keys kept in blocks of 16.
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
// queries, out: `count` vectors of head_dim, query_stride and out_stride floats apart; each sees all keys of all runs,
// in order (at least one). A query's result depends on itself and the runs alone, not on its neighbours. `scratch`
// grows as needed and belongs to one thread.
void attention(const float* queries, int count, std::int64_t query_stride, int head_dim, float scale,
               std::span<const KeyRun> runs, float* out, std::int64_t out_stride, AlignedFloats& scratch);

namespace reference {  // in double, with std::exp
void attention(const float* queries, int count, std::int64_t query_stride, int head_dim, float scale,
               std::span<const KeyRun> runs, float* out, std::int64_t out_stride);
}  // namespace reference

}  // namespace agon::kernels
