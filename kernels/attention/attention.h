// kernels/attention/attention.h - attention, softmax(q K^T * scale) V, over keys and values that are stored in blocks
// of 16, as fp32, bfloat16 or 8-bit codes. Queries, sums and results are in fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/aligned.h"

namespace agon::kernels {

// q8: groups of 32 neighbouring numbers of one key or value, as code * scale. scale: their largest magnitude / 127.
enum class KeyType { f32, bf16, q8 };

// How the keys and values of one head are stored.
struct KeyFormat {
  KeyType type = KeyType::f32;
  int head_dim = 0;
};

inline constexpr int kKeyBlock = 16;  // keys
// Size of a block of one head: its keys, then its values (kernels/attention/key_block.h). A multiple of 64.
std::int64_t key_block_bytes(const KeyFormat& format);
// Stores key and value [head_dim] at slot 0 .. 15. In q8, a number that is not finite turns its group of 32 into NaN.
void put_key(const KeyFormat& format, const float* key, const float* value, std::byte* block, int slot);

// The first `keys` keys of a list of pages, 16 per page; the head's block starts `offset` bytes into each page.
struct KeyRun {
  const std::byte* const* pages = nullptr;
  std::int64_t offset = 0, keys = 0;
};
// One query: its vector [head_dim], where its result [head_dim] goes, and the keys that it sees after the shared ones.
struct AttentionQuery {
  const float* query = nullptr;
  float* out = nullptr;
  KeyRun own;
};
// Every query sees all keys of `shared`, then the keys of its own run, together at least one. Shared keys are read once
// for several queries. If all numbers are finite, a query's result depends only on the query and its keys. It depends
// neither on neighbouring queries (which are computed together if their own runs begin on the same pages) nor on where
// its keys are split into shared and own, if that is at a multiple of 16. Keys of type q8 give the same bits as their
// decoded values would give as f32. So do keys of type bf16, unless the processor has bfloat16 products
// (kernels/attention/bfloat_products.h): queries and weights are then rounded to bfloat16 too, and sums stay in fp32.
// `scratch` grows as needed and belongs to one thread.
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale,
               AlignedFloats& scratch);

namespace reference {
// Decodes what put_key stored: key and value [head_dim].
void get_key(const KeyFormat& format, const std::byte* block, int slot, float* key, float* value);
// In double, with std::exp.
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale);
}  // namespace reference

}  // namespace agon::kernels
