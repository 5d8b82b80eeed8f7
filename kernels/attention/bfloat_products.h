// kernels/attention/bfloat_products.h - the inner products of attention over keys in bfloat16 (its .cc files only), for
// processors with bfloat16 products (VDPBF16PS): of queries with keys, and of weights with values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace agon::kernels {

// Blocks of 16 keys and values (kernels/attention/key_block.h) at `offset` of each page.
struct BfloatBlocks {
  const std::byte* const* pages = nullptr;
  std::int64_t offset = 0;
  int count = 0;
};

// scores[q, 16 b + key] = scale * (query q . key of block b), each one chain over pairs of dimensions.
struct BfloatScores {
  const std::uint16_t* queries = nullptr;  // [queries, 2 * words]
  int count = 0;                           // queries: 1, 2 or 4
  int words = 0;                           // pairs of dimensions, padded with 0
  std::int64_t values = 0;                 // bytes from a block to its values, which are prefetched
  float scale = 1;
  float* scores = nullptr;  // rows `stride` apart
  std::int64_t stride = 0;
};
// sums[q, c] += weights[q, key] * value[key, c] over the first `keys` keys of the blocks, in their order, two at a
// time.
struct BfloatSums {
  const std::uint16_t* weights = nullptr;  // rows `weight_stride` apart; 0 after the last key
  std::int64_t weight_stride = 0;
  int count = 0;  // queries: 1, 2 or 4
  std::int64_t keys = 0;
  std::int64_t values = 0;        // bytes from a block to its values
  std::int64_t value_stride = 0;  // bytes from a pair of values to the next
  int columns = 0;                // a multiple of 16
  float* sums = nullptr;          // rows `sum_stride` apart
  std::int64_t sum_stride = 0;
};

// Whether this processor has them, and all that AGON_WIDE (kernels/multiversion.h) needs; otherwise they must not be
// called.
bool has_bfloat_products();
void bfloat_scores(const BfloatScores& at, const BfloatBlocks& blocks);
void bfloat_sums(const BfloatSums& at, const BfloatBlocks& blocks);

}  // namespace agon::kernels
