#include "kernels/attention/attention.h"

#include <algorithm>
#include <limits>

#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

static_assert(kKeyBlock == kLanes);

std::int64_t rounded(int head_dim) { return (head_dim + kLanes - 1) / kLanes * kLanes; }

// Everything that the passes over the keys share. scores: [queries of a group, padded keys].
struct Attention {
  const float* queries;
  std::int64_t query_stride;
  int head_dim;
  float scale;
  std::span<const KeyRun> runs;
  float* out;
  std::int64_t out_stride;
  float* scores;
  std::int64_t padded;  // keys of all runs, each run filled up to whole blocks
};

// Scores of B blocks of 16 keys for Q queries: one chain of multiply-adds over the head dimension each. Keys past
// `valid` get minus infinity.
template <int Q, int B>
AGON_INLINE void score_blocks(const Attention& at, const float* const* pages, std::int64_t offset, std::int64_t valid,
                              float* scores, Floats (&best)[Q]) {
  Floats score[B][Q] = {};
  for (int i = 0; i < at.head_dim; ++i) {
    Floats key[B];
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b) key[b] = load(pages[b] + offset + i * kLanes);
#pragma GCC unroll 4
    for (int q = 0; q < Q; ++q)
#pragma GCC unroll 4
      for (int b = 0; b < B; ++b) score[b][q] += at.queries[q * at.query_stride + i] * key[b];
  }
  const Floats nothing = broadcast(-std::numeric_limits<float>::infinity());
  for (int q = 0; q < Q; ++q)
    for (int b = 0; b < B; ++b) {
      const Floats scaled = score[b][q] * at.scale;
      const int keys = static_cast<int>(std::min<std::int64_t>(kLanes, valid - b * kLanes));
      const Floats masked = lane_index() < keys ? scaled : nothing;
      store(scores + q * at.padded + b * kLanes, masked);
      best[q] = larger(masked, best[q]);
    }
}

template <int Q>
AGON_INLINE void score_all(const Attention& at, Floats (&best)[Q]) {
  constexpr int kBlocks = Q == 4 ? 2 : 4;  // enough independent chains to hide the latency of one
  float* scores = at.scores;
  for (const KeyRun& run : at.runs) {
    const float* const* page = run.pages;
    std::int64_t left = run.keys;
    for (; left > (kBlocks - 1) * kKeyBlock;
         left -= kBlocks * kKeyBlock, page += kBlocks, scores += kBlocks * kKeyBlock)
      score_blocks<Q, kBlocks>(at, page, run.offset, left, scores, best);
    for (; left > 0; left -= kKeyBlock, ++page, scores += kKeyBlock)
      score_blocks<Q, 1>(at, page, run.offset, left, scores, best);
  }
}

// Scores become weights exp(score - best); returns one over their sum.
AGON_INLINE float to_weights(float* scores, std::int64_t padded, float best) {
  Floats total{};
  for (std::int64_t j = 0; j < padded; j += kLanes) {
    const Floats weight = exp(load(scores + j) - best);
    store(scores + j, weight);
    total += weight;
  }
  return 1.0f / sum(total);
}

// mixed[q] += weights[q] * values of one key, 16 * V columns of them.
template <int Q, int V>
AGON_INLINE void mix_key(const Attention& at, const float* weights, const float* values, Floats (&mixed)[Q][V]) {
  Floats value[V];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) value[v] = load(values + v * kLanes);
#pragma GCC unroll 4
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) mixed[q][v] += weights[q * at.padded] * value[v];
}

template <int Q, int V>
AGON_INLINE void finish(const Attention& at, int first, const Floats (&mixed)[Q][V], const float (&scale)[Q]) {
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < V; ++v) {
      const int column = first + v * kLanes;
      store(at.out + q * at.out_stride + column, mixed[q][v] * scale[q], std::min(kLanes, at.head_dim - column));
    }
}

// out[first .. first + 16 * V) of Q queries: the values of even and of odd slots summed key after key, then together.
template <int Q, int V>
AGON_INLINE void mix(const Attention& at, int first, const float (&scale)[Q]) {
  Floats even[Q][V] = {}, odd[Q][V] = {};
  const std::int64_t stride = rounded(at.head_dim);
  const float* weights = at.scores;
  for (const KeyRun& run : at.runs)
    for (std::int64_t j = 0; j < run.keys; j += kKeyBlock, weights += kKeyBlock) {
      const float* values = run.pages[j / kKeyBlock] + run.offset + at.head_dim * kLanes + first;
      const int keys = static_cast<int>(std::min<std::int64_t>(kKeyBlock, run.keys - j));
      for (int slot = 0; slot + 1 < keys; slot += 2) {
        mix_key<Q, V>(at, weights + slot, values + slot * stride, even);
        mix_key<Q, V>(at, weights + slot + 1, values + (slot + 1) * stride, odd);
      }
      if (keys % 2 != 0) mix_key<Q, V>(at, weights + keys - 1, values + (keys - 1) * stride, even);
    }
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < V; ++v) even[q][v] += odd[q][v];
  finish<Q, V>(at, first, even, scale);
}

template <int Q>
AGON_INLINE void attend(const Attention& at) {
  Floats best[Q];
  float scale[Q];
  for (int q = 0; q < Q; ++q) best[q] = broadcast(-std::numeric_limits<float>::infinity());
  score_all<Q>(at, best);
  for (int q = 0; q < Q; ++q) scale[q] = to_weights(at.scores + q * at.padded, at.padded, largest(best[q]));
  int first = 0;
  for (; first + 2 * kLanes <= at.head_dim; first += 2 * kLanes) mix<Q, 2>(at, first, scale);
  for (; first < at.head_dim; first += kLanes) mix<Q, 1>(at, first, scale);
}

AGON_MULTIVERSION void attend_all(Attention at, int count) {
  const auto advance = [&at](int queries) {
    at.queries += queries * at.query_stride;
    at.out += queries * at.out_stride;
  };
  for (; count >= 4; count -= 4, advance(4)) attend<4>(at);
  for (; count >= 2; count -= 2, advance(2)) attend<2>(at);
  if (count == 1) attend<1>(at);
}

}  // namespace

std::int64_t key_block_floats(int head_dim) { return kKeyBlock * (head_dim + rounded(head_dim)); }

void put_key(const float* key, const float* value, int head_dim, float* block, int slot) {
  for (int i = 0; i < head_dim; ++i) block[i * kKeyBlock + slot] = key[i];
  std::memcpy(block + head_dim * kKeyBlock + slot * rounded(head_dim), value,
              sizeof(float) * static_cast<std::size_t>(head_dim));
}

void attention(const float* queries, int count, std::int64_t query_stride, int head_dim, float scale,
               std::span<const KeyRun> runs, float* out, std::int64_t out_stride, AlignedFloats& scratch) {
  std::int64_t padded = 0;
  for (const KeyRun& run : runs) padded += (run.keys + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  scratch.require(static_cast<std::size_t>(4 * padded));
  attend_all({queries, query_stride, head_dim, scale, runs, out, out_stride, scratch.data(), padded}, count);
}

}  // namespace agon::kernels
