#include "kernels/attention/attention.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/attention/bfloat_products.h"
#include "kernels/attention/key_block.h"
#include "kernels/linear/bfloat/linear.h"
#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

static_assert(kKeyBlock == kLanes);
constexpr int kTogether = 32;                  // maximum number of queries per round
constexpr std::int64_t kPart = 4 * kKeyBlock;  // keys

using Bfloat = std::uint16_t;
using Code = std::int8_t;

constexpr int rounded(int count) { return (count + kLanes - 1) / kLanes * kLanes; }

// A vector of another element type with as many lanes as Vector.
template <typename Element, typename Vector>
struct Lanes {
  using Type [[gnu::vector_size(kLanesOf<Vector> * sizeof(Element))]] = Element;
};
template <typename Vector>
using Words = typename Lanes<std::int32_t, Vector>::Type;
template <typename To, typename From>
AGON_INLINE To same_bytes(const From& from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <typename Vector>
AGON_INLINE Vector load_lanes(const std::byte* from) {
  Vector lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

// The numbers at one place of each word as fp32, before their scales are applied.
template <typename Value, typename Vector>
AGON_INLINE Vector widen(const Words<Vector>& words, int place) {
  constexpr int kTop = 8 * (sizeof(float) - sizeof(Value));  // bits of a word that one number leaves free
  const Words<Vector> raised = words << (kTop - 8 * static_cast<int>(sizeof(Value)) * place);
  if constexpr (sizeof(Value) == sizeof(float)) return same_bytes<Vector>(words);
  if constexpr (sizeof(Value) == sizeof(Bfloat)) return same_bytes<Vector>(raised & -(1 << kTop));
  return __builtin_convertvector(raised >> kTop, Vector);
}

// A block of one type, read as fp32.
template <typename Value>
struct Block {
  static constexpr int kInWord = sizeof(float) / sizeof(Value);
  static constexpr bool kHasScales = sizeof(Value) == 1;
  const std::byte* at;
  const KeyBlockLayout& layout;

  // Reads dimension word * kInWord + place of several keys, starting at `slot`.
  template <typename Vector>
  AGON_INLINE Vector keys(int word, int place, int slot) const {
    const std::int64_t offset = (word * kKeyBlock + slot) * KeyBlockLayout::kWord;
    const Vector values = widen<Value, Vector>(load_lanes<Words<Vector>>(at + offset), place);
    if constexpr (!kHasScales) return values;
    const int scale = word * kInWord / kScaleGroup * kKeyBlock + slot;
    return values * load_lanes<Vector>(at + layout.key_scales + scale * KeyBlockLayout::kWord);
  }
  // Reads several dimensions of one value, starting at `column`.
  template <typename Vector>
  AGON_INLINE Vector value(int slot, int column) const {
    const std::byte* const from =
        at + layout.values + slot / kInWord * layout.value_stride + column * KeyBlockLayout::kWord;
    const Vector values = widen<Value, Vector>(load_lanes<Words<Vector>>(from), slot % kInWord);
    if constexpr (!kHasScales) return values;
    const int scale = slot * layout.groups + column / kScaleGroup;
    return values * load_lanes<float>(at + layout.value_scales + scale * KeyBlockLayout::kWord);
  }
  AGON_INLINE void prefetch_values(int word) const {
    __builtin_prefetch(at + layout.values + word * kKeyBlock * KeyBlockLayout::kWord);
  }
};

// The queries of one round. scores [queries, stride] turn into weights: of the shared keys, then of a query's own, each
// run padded to whole blocks. mixed [queries, 2, head_dim rounded up]: sums over even and over odd slots.
struct Round {
  std::span<const AttentionQuery> queries;
  int head_dim;
  KeyBlockLayout layout;
  float scale;
  float *scores, *mixed, *best;  // best: [queries, 16], largest score by lane
  std::int64_t stride;
  // The queries, the weights, and 1 / the sum of a query's weights, for bfloat16 products; else null.
  Bfloat *pairs, *weights;  // [queries, head_dim rounded up to pairs], [queries, stride]
  float* shares;
  int mixed_stride() const { return 2 * rounded(head_dim); }
};

// best[lane] = the larger of both; a score that is NaN changes nothing.
template <typename Vector>
AGON_INLINE void store_larger(Vector scores, float* best) {
  const Vector before = load<Vector>(best);
  store(best, scores > before ? scores : before);
}

// Of 16 scores, the ones after the first `valid` become minus infinity. best: the largest so far, by lane.
template <typename Vector>
AGON_INLINE void finish_scores(float* scores, std::int64_t valid, float* best) {
  const auto keys = static_cast<int>(std::clamp<std::int64_t>(valid, 0, kLanes));
  if (keys < kLanes) std::fill(scores + keys, scores + kLanes, -std::numeric_limits<float>::infinity());
  for (int lane = 0; lane < kLanes; lane += kLanesOf<Vector>) store_larger(load<Vector>(scores + lane), best + lane);
}

// Scores of B blocks of 16 keys for Q queries, starting at `first`. Each score is one chain of multiply-adds over the
// head dimension. Query q sees the first valid[q] keys; the others get minus infinity.
template <typename Value, typename Vector, int Q, int B>
AGON_INLINE void score_blocks(const Round& round, int first, const std::byte* const* pages, std::int64_t offset,
                              const std::int64_t (&valid)[Q], std::int64_t column) {
  constexpr int kParts = kLanes / kLanesOf<Vector>;
  Vector score[B][Q][kParts] = {};
  const float* query[Q];
  for (int q = 0; q < Q; ++q) query[q] = round.queries[static_cast<std::size_t>(first + q)].query;
  constexpr int kInWord = Block<Value>::kInWord;
  for (int word = 0; word * kInWord < round.head_dim; ++word) {
#pragma GCC unroll 4
    for (int b = 0; b < B; ++b)
      Block<Value>{pages[b] + offset, round.layout}.prefetch_values(word);  // they are needed next
#pragma GCC unroll 1
    for (int place = 0; place < kInWord; ++place) {
      const int i = word * kInWord + place;
      if (i == round.head_dim) break;
      Vector key[B][kParts];
#pragma GCC unroll 4
      for (int b = 0; b < B; ++b)
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part)
          key[b][part] =
              Block<Value>{pages[b] + offset, round.layout}.template keys<Vector>(word, place, part * kLanesOf<Vector>);
#pragma GCC unroll 4
      for (int q = 0; q < Q; ++q)
#pragma GCC unroll 4
        for (int b = 0; b < B; ++b)
#pragma GCC unroll 4
          for (int part = 0; part < kParts; ++part) score[b][q][part] += query[q][i] * key[b][part];
    }
  }
  for (int q = 0; q < Q; ++q)
    for (int b = 0; b < B; ++b) {
      float* scores = round.scores + (first + q) * round.stride + column + b * kLanes;
      for (int part = 0; part < kParts; ++part)
        store(scores + part * kLanesOf<Vector>, score[b][q][part] * round.scale);
      finish_scores<Vector>(scores, valid[q] - b * kLanes, round.best + (first + q) * kLanes);
    }
}

// Scores the keys of a run, of which query q sees the first seen(q).
template <typename Value, typename Vector, int Q, typename Seen>
AGON_INLINE void score_run(const Round& round, int first, const KeyRun& run, std::int64_t column, const Seen& seen) {
  // Enough independent chains to hide the latency of one, but no more than fit in the registers: NEON has 32.
  constexpr int kSums = kLanesOf<Vector> == 4 ? 16 : 8;
  constexpr int kBlocks = std::min(4, kSums * kLanesOf<Vector> / kLanes / Q);
  std::int64_t valid[Q];
  for (int q = 0; q < Q; ++q) valid[q] = seen(first + q);
  const std::byte* const* page = run.pages;
  for (std::int64_t left = run.keys; left > 0; left -= kBlocks * kKeyBlock) {
    if (left > 3 * kKeyBlock && kBlocks == 4)
      score_blocks<Value, Vector, Q, 4>(round, first, page, run.offset, valid, column);
    else if (left > 2 * kKeyBlock && kBlocks == 4)
      score_blocks<Value, Vector, Q, 3>(round, first, page, run.offset, valid, column);
    else if (left > kKeyBlock && kBlocks > 1)
      score_blocks<Value, Vector, Q, 2>(round, first, page, run.offset, valid, column);
    else
      score_blocks<Value, Vector, Q, 1>(round, first, page, run.offset, valid, column);
    page += kBlocks;
    column += kBlocks * kKeyBlock;
    for (int q = 0; q < Q; ++q) valid[q] -= kBlocks * kKeyBlock;
  }
}

// Turns scores into weights: exp(score - best), divided by the sum of all.
AGON_INLINE void to_weights(float* scores, std::int64_t count, const float* best_by_lane) {
  const float best = largest(best_by_lane);
  float total[kLanes] = {};
  for (std::int64_t j = 0; j < count; j += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) total[lane] += scores[j + lane] = exp(scores[j + lane] - best);
  const float scale = 1.0f / sum(total);
  for (std::int64_t j = 0; j < count; ++j) scores[j] *= scale;
}

// mixed[q] += weight * value of one key, V vectors of its columns.
template <typename Value, typename Vector, int Q, int V>
AGON_INLINE void mix_key(const float* weights, std::int64_t stride, const Block<Value>& block, int slot, int from,
                         Vector (&mixed)[Q][V]) {
  Vector value[V];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) value[v] = block.template value<Vector>(slot, from + v * kLanesOf<Vector>);
#pragma GCC unroll 4
  for (int q = 0; q < Q; ++q)
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) mixed[q][v] += weights[q * stride] * value[v];
}

// Adds V vectors of columns, starting at `from`, of a run's values to the sums of Q queries, key after key.
template <typename Value, typename Vector, int Q, int V>
AGON_INLINE void mix_columns(const Round& round, int first, const KeyRun& run, std::int64_t column, int from) {
  constexpr int kStep = kLanesOf<Vector>;
  Vector even[Q][V], odd[Q][V];
  const int width = rounded(round.head_dim);
  float* sums = round.mixed + first * round.mixed_stride() + from;
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < V; ++v) {
      even[q][v] = load<Vector>(sums + q * round.mixed_stride() + v * kStep);
      odd[q][v] = load<Vector>(sums + q * round.mixed_stride() + width + v * kStep);
    }
  const float* weights = round.scores + first * round.stride + column;
  for (std::int64_t j = 0; j < run.keys; j += kKeyBlock, weights += kKeyBlock) {
    const Block<Value> block{run.pages[j / kKeyBlock] + run.offset, round.layout};
    const int keys = static_cast<int>(std::min<std::int64_t>(kKeyBlock, run.keys - j));
    for (int slot = 0; slot + 1 < keys; slot += 2) {
      mix_key<Value, Vector, Q, V>(weights + slot, round.stride, block, slot, from, even);
      mix_key<Value, Vector, Q, V>(weights + slot + 1, round.stride, block, slot + 1, from, odd);
    }
    if (keys % 2 != 0) mix_key<Value, Vector, Q, V>(weights + keys - 1, round.stride, block, keys - 1, from, even);
  }
  for (int q = 0; q < Q; ++q)
    for (int v = 0; v < V; ++v) {
      store(sums + q * round.mixed_stride() + v * kStep, even[q][v]);
      store(sums + q * round.mixed_stride() + width + v * kStep, odd[q][v]);
    }
}

template <typename Value, typename Vector, int Q>
AGON_INLINE void mix_run(const Round& round, int first, const KeyRun& run, std::int64_t column) {
  constexpr int kStep = kLanesOf<Vector>;
  constexpr bool kTwo = kStep == kLanes || Q < 4;  // whether two vectors fit in the registers
  int from = 0;
  for (; kTwo && from + 2 * kStep <= round.head_dim; from += 2 * kStep)
    mix_columns<Value, Vector, Q, 2>(round, first, run, column, from);
  for (; from < round.head_dim; from += kStep) mix_columns<Value, Vector, Q, 1>(round, first, run, column, from);
}

// Calls step<number of queries>(first query) for groups of 4, 2 and 1 queries in [begin, end).
template <typename Step>
AGON_INLINE void in_groups(int begin, int end, const Step& step) {
  for (; begin + 4 <= end; begin += 4) step.template operator()<4>(begin);
  for (; begin + 2 <= end; begin += 2) step.template operator()<2>(begin);
  if (begin < end) step.template operator()<1>(begin);
}

// Queries [begin, end) whose own runs begin with the same keys: heads of one token, and consecutive tokens. Keys that a
// query does not see get a weight of 0 for it.
struct Neighbours {
  int begin, end;
  KeyRun run;  // the longest
};
AGON_INLINE Neighbours neighbours_from(const Round& round, int begin) {
  const auto own = [&](int q) -> const KeyRun& { return round.queries[static_cast<std::size_t>(q)].own; };
  if (begin == static_cast<int>(round.queries.size())) return {begin, begin, {}};
  Neighbours found{begin, begin + 1, own(begin)};
  while (found.end < static_cast<int>(round.queries.size()) && own(found.end).pages == found.run.pages &&
         own(found.end).offset == found.run.offset)
    found.run.keys = std::max(found.run.keys, own(found.end++).keys);
  return found;
}

// Splits a run into parts that stay in the processor's first cache until all queries [begin, end) have read them. Calls
// step<group size>(first query, part, number of keys before it).
template <typename Step>
AGON_INLINE void in_parts(int begin, int end, const KeyRun& run, const Step& step) {
  for (std::int64_t before = 0; before < run.keys; before += kPart) {
    const KeyRun part{run.pages + before / kKeyBlock, run.offset, std::min(kPart, run.keys - before)};
    in_groups(
        begin, end, [&]<int Q>(int first) __attribute__((always_inline)) {
          step.template operator()<Q>(first, part, before);
        });
  }
}

// The parts of attention that depend on the type of the keys, with fp32 arithmetic.
template <typename Value, typename Vector>
struct PlainArithmetic {
  const Round& round;

  // seen(q): number of the run's keys, from the first, that query q sees.
  template <int Q, typename Seen>
  AGON_INLINE void score(int first, const KeyRun& run, std::int64_t column, const Seen& seen) const {
    score_run<Value, Vector, Q>(round, first, run, column, seen);
  }
  // Turns the first `count` scores of query q into weights.
  AGON_INLINE void weigh(int q, std::int64_t count) const {
    to_weights(round.scores + q * round.stride, count, round.best + q * kLanes);
  }
  static constexpr float share(int) { return 1; }  // the factor of a query's sums
  template <int Q>
  AGON_INLINE void mix(int first, const KeyRun& run, std::int64_t column) const {
    mix_run<Value, Vector, Q>(round, first, run, column);
  }
};

// The same with bfloat16 products.
struct BfloatArithmetic {
  const Round& round;

  static BfloatBlocks blocks_of(const KeyRun& run) {
    return {run.pages, run.offset, static_cast<int>((run.keys + kKeyBlock - 1) / kKeyBlock)};
  }
  template <int Q, typename Seen>
  AGON_INLINE void score(int first, const KeyRun& run, std::int64_t column, const Seen& seen) const {
    const int words = (round.head_dim + 1) / 2;
    float* const scores = round.scores + first * round.stride + column;
    bfloat_scores({.queries = round.pairs + first * 2 * words,
                   .count = Q,
                   .words = words,
                   .values = round.layout.values,
                   .scale = round.scale,
                   .scores = scores,
                   .stride = round.stride},
                  blocks_of(run));
    for (int q = 0; q < Q; ++q)
      for (std::int64_t key = 0; key < run.keys; key += kKeyBlock)
        finish_scores<Floats>(scores + q * round.stride + key, seen(first + q) - key,
                              round.best + (first + q) * kLanes);
  }
  // The sums are divided by the sum of the rounded weights: results stay means of values.
  AGON_INLINE void weigh(int q, std::int64_t count) const {
    float* const scores = round.scores + q * round.stride;
    Bfloat* const weights = round.weights + q * round.stride;
    const float best = largest(round.best + q * kLanes);
    for (std::int64_t j = 0; j < count; ++j) scores[j] = exp(scores[j] - best);
    round_to_bfloat(scores, count, weights);
    float total[kLanes] = {};
    for (std::int64_t j = 0; j < count; j += kLanes)
      for (int lane = 0; lane < kLanes; ++lane)
        total[lane] += std::bit_cast<float>(std::uint32_t{weights[j + lane]} << 16);
    round.shares[q] = 1.0f / sum(total);
  }
  float share(int q) const { return round.shares[q]; }
  template <int Q>
  AGON_INLINE void mix(int first, const KeyRun& run, std::int64_t column) const {
    bfloat_sums({.weights = round.weights + first * round.stride + column,
                 .weight_stride = round.stride,
                 .count = Q,
                 .keys = run.keys,
                 .values = round.layout.values,
                 .value_stride = round.layout.value_stride,
                 .columns = rounded(round.head_dim),
                 .sums = round.mixed + first * round.mixed_stride(),
                 .sum_stride = round.mixed_stride()},
                blocks_of(run));
  }
};

template <typename Arithmetic, typename Seen>
AGON_INLINE void score_all(const Arithmetic& arithmetic, int begin, int end, const KeyRun& run, std::int64_t column,
                           const Seen& seen) {
  in_parts(
      begin, end, run, [&]<int Q>(int first, const KeyRun& part, std::int64_t before) __attribute__((always_inline)) {
        arithmetic.template score<Q>(first, part, column + before, [&](int q) { return seen(q) - before; });
      });
}

template <typename Arithmetic>
AGON_INLINE void mix_all(const Arithmetic& arithmetic, int begin, int end, const KeyRun& run, std::int64_t column) {
  in_parts(
      begin, end, run, [&]<int Q>(int first, const KeyRun& part, std::int64_t before) __attribute__((always_inline)) {
        arithmetic.template mix<Q>(first, part, column + before);
      });
}

template <typename Arithmetic>
AGON_INLINE void attend_with(const Round& round, const KeyRun& shared) {
  const Arithmetic arithmetic{round};
  const int count = static_cast<int>(round.queries.size()), width = rounded(round.head_dim);
  const std::int64_t column = rounded(static_cast<int>(shared.keys));
  std::fill_n(round.best, count * kLanes, -std::numeric_limits<float>::infinity());
  std::fill_n(round.mixed, count * round.mixed_stride(), 0.0f);
  score_all(arithmetic, 0, count, shared, 0, [&](int) { return shared.keys; });
  for (Neighbours some = neighbours_from(round, 0); some.begin < count; some = neighbours_from(round, some.end)) {
    score_all(arithmetic, some.begin, some.end, some.run, column,
              [&](int q) { return round.queries[static_cast<std::size_t>(q)].own.keys; });
    const std::int64_t keys = column + rounded(static_cast<int>(some.run.keys));
    for (int q = some.begin; q < some.end; ++q) arithmetic.weigh(q, keys);
  }
  mix_all(arithmetic, 0, count, shared, 0);
  for (Neighbours some = neighbours_from(round, 0); some.begin < count; some = neighbours_from(round, some.end))
    mix_all(arithmetic, some.begin, some.end, some.run, column);
  for (int q = 0; q < count; ++q)
    for (int i = 0; i < round.head_dim; ++i) {
      const float* sums = round.mixed + q * round.mixed_stride() + i;
      round.queries[static_cast<std::size_t>(q)].out[i] = (sums[0] + sums[width]) * arithmetic.share(q);
    }
}

// Each is compiled only for registers of its own width: wider vectors take the compiler minutes.
AGON_WIDE void attend_wide_floats(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<float, Floats>>(round, shared);
}
AGON_WIDE void attend_wide_bfloats(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<Bfloat, Floats>>(round, shared);
}
AGON_WIDE void attend_wide_codes(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<Code, Floats>>(round, shared);
}
AGON_WIDE void attend_wide_by_products(const Round& round, const KeyRun& shared) {
  attend_with<BfloatArithmetic>(round, shared);
}
AGON_MULTIVERSION void attend_floats(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<float, NarrowFloats>>(round, shared);
}
AGON_MULTIVERSION void attend_bfloats(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<Bfloat, NarrowFloats>>(round, shared);
}
AGON_MULTIVERSION void attend_codes(const Round& round, const KeyRun& shared) {
  attend_with<PlainArithmetic<Code, NarrowFloats>>(round, shared);
}

void round_queries(const Round& round) {
  const std::int64_t size = 2 * ((round.head_dim + 1) / 2);
  for (std::size_t q = 0; q < round.queries.size(); ++q) {
    Bfloat* const rounded = round.pairs + static_cast<std::int64_t>(q) * size;
    rounded[size - 1] = 0;  // an odd head_dim leaves it free
    round_to_bfloat(round.queries[q].query, round.head_dim, rounded);
  }
}

void attend(KeyType type, const Round& round, const KeyRun& shared) {
  const bool is_wide = has_wide_registers();
  switch (type) {
    case KeyType::f32:
      return is_wide ? attend_wide_floats(round, shared) : attend_floats(round, shared);
    case KeyType::bf16:
      if (round.pairs) return attend_wide_by_products(round, shared);
      return is_wide ? attend_wide_bfloats(round, shared) : attend_bfloats(round, shared);
    case KeyType::q8:
      return is_wide ? attend_wide_codes(round, shared) : attend_codes(round, shared);
  }
}

// Encodes up to 32 numbers in the stored type; returns their scale.
float keep(const float* x, int count, float* kept) {
  std::copy_n(x, count, kept);
  return 1;
}
float keep(const float* x, int count, Bfloat* kept) {
  round_to_bfloat(x, count, kept);
  return 1;
}
AGON_MULTIVERSION float keep(const float* x, int count, Code* kept) {
  constexpr float kMostCode = 127, kLeast = 1e-30f, kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds
  constexpr std::uint32_t kInfinite = 0x7f800000;
  std::uint32_t bits = 0;  // of the largest magnitude: bits of positive floats are ordered like the floats
  for (int i = 0; i < count; ++i) bits = std::max(bits, std::bit_cast<std::uint32_t>(x[i]) & 0x7fffffff);
  const float largest = std::bit_cast<float>(bits);
  const float inverse = bits < kInfinite && largest > kLeast ? kMostCode / largest : 0;
  for (int i = 0; i < count; ++i) {
    const float scaled = inverse > 0 ? x[i] * inverse : 0;
    kept[i] = static_cast<Code>(static_cast<std::int32_t>(scaled + kRound - kRound));
  }
  if (bits >= kInfinite) return std::numeric_limits<float>::quiet_NaN();
  return inverse > 0 ? largest / kMostCode : 0;
}

template <typename Value>
void put_at(std::byte* block, std::int64_t offset, const Value& value) {
  std::memcpy(block + offset, &value, sizeof value);
}

template <typename Value>
void put(const KeyFormat& format, const float* key, const float* value, std::byte* block, int slot) {
  const KeyBlockLayout layout(format);
  Value kept[kScaleGroup];
  for (int first = 0; first < format.head_dim; first += kScaleGroup) {
    const int count = std::min(kScaleGroup, format.head_dim - first), group = first / kScaleGroup;
    const float key_scale = keep(key + first, count, kept);
    for (int i = 0; i < count; ++i) put_at(block, layout.key_at(first + i, slot), kept[i]);
    const float value_scale = keep(value + first, count, kept);
    for (int i = 0; i < count; ++i) put_at(block, layout.value_at(slot, first + i), kept[i]);
    if (layout.groups == 0) continue;
    put_at(block, layout.key_scales + (group * kKeyBlock + slot) * KeyBlockLayout::kWord, key_scale);
    put_at(block, layout.value_scales + (slot * layout.groups + group) * KeyBlockLayout::kWord, value_scale);
  }
  // Products read whole words, and 0 times a NaN is not 0.
  for (int i = format.head_dim; i % layout.in_word != 0; ++i) put_at(block, layout.key_at(i, slot), Value{});
}

}  // namespace

std::int64_t key_block_bytes(const KeyFormat& format) { return KeyBlockLayout(format).bytes(); }

void put_key(const KeyFormat& format, const float* key, const float* value, std::byte* block, int slot) {
  switch (format.type) {
    case KeyType::f32:
      return put<float>(format, key, value, block, slot);
    case KeyType::bf16:
      return put<Bfloat>(format, key, value, block, slot);
    case KeyType::q8:
      return put<Code>(format, key, value, block, slot);
  }
}

void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale,
               AlignedFloats& scratch) {
  const int head_dim = format.head_dim;
  std::int64_t most = 0;
  for (const AttentionQuery& query : queries) most = std::max(most, query.own.keys);
  const std::int64_t stride = rounded(static_cast<int>(shared.keys)) + rounded(static_cast<int>(most));
  const bool by_products = format.type == KeyType::bf16 && has_bfloat_products();
  const int words = (head_dim + 1) / 2;
  scratch.require(static_cast<std::size_t>(kTogether * (stride + 2 * rounded(head_dim) + kLanes) +
                                           (by_products ? kTogether * (stride / 2 + words + 1) : 0)));
  float* scores = scratch.data();
  float* mixed = scores + kTogether * stride;
  float* best = mixed + kTogether * 2 * rounded(head_dim);
  Bfloat* weights = by_products ? reinterpret_cast<Bfloat*>(best + kTogether * kLanes) : nullptr;
  Bfloat* pairs = by_products ? weights + kTogether * stride : nullptr;
  float* shares = by_products ? reinterpret_cast<float*>(pairs + kTogether * 2 * words) : nullptr;
  const KeyBlockLayout layout(format);
  for (; !queries.empty(); queries = queries.subspan(std::min<std::size_t>(kTogether, queries.size()))) {
    const Round round{queries.first(std::min<std::size_t>(kTogether, queries.size())),
                      head_dim,
                      layout,
                      scale,
                      scores,
                      mixed,
                      best,
                      stride,
                      pairs,
                      weights,
                      shares};
    if (by_products) round_queries(round);
    attend(format.type, round, shared);
  }
}

}  // namespace agon::kernels
