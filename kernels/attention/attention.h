// kernels/attention/attention.h - softmax(q K^T * scale) V of queries over keys kept in blocks of 16, as fp32, bfloat16
// or codes of 8 bits. Queries, sums and results are in fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/aligned.h"

namespace agon::kernels {

// q8: of 32 neighbouring values of one key, each is code * scale, where scale is the largest of them / 127.
enum class KeyType { f32, bf16, q8 };

// How the keys and values of one head are kept.
struct KeyFormat {
  KeyType type = KeyType::f32;
  int head_dim = 0;
};

inline constexpr int kKeyBlock = 16;  // keys
// A block of one head: its keys, then its values (kernels/attention/key_block.h). A multiple of 64.
std::int64_t key_block_bytes(const KeyFormat& format);
// slot 0 .. 15. In q8, a value that is not finite turns its 32 neighbours into NaN.
void put_key(const KeyFormat& format, const float* key, const float* value, std::byte* block, int slot);

// The first `keys` keys of a list of pages, 16 a page; the head's block lies `offset` bytes into each page.
struct KeyRun {
  const std::byte* const* pages = nullptr;
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
// into shared and own, as long as that is at a multiple of 16. Keys of another type than f32 give the bits that their
// values would give in f32. `scratch` grows as needed and belongs to one thread.
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale,
               AlignedFloats& scratch);

namespace reference {
// What put_key kept: key and value [head_dim].
void get_key(const KeyFormat& format, const std::byte* block, int slot, float* key, float* value);
// In double, with std::exp.
void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale);
}  // namespace reference

}  // namespace agon::kernels
