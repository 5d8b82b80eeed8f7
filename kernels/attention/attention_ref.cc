#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/attention/key_block.h"

namespace agon::kernels::reference {
namespace {

template <typename Value>
Value read(const std::byte* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// scale: of the number's group, for q8.
float decode(KeyType type, const std::byte* from, float scale) {
  if (type == KeyType::f32) return read<float>(from);
  if (type == KeyType::bf16) return std::bit_cast<float>(std::uint32_t{read<std::uint16_t>(from)} << 16);
  return static_cast<float>(read<std::int8_t>(from)) * scale;
}

float scale_at(const std::byte* scales, int place) { return read<float>(scales + place * KeyBlockLayout::kWord); }

struct Pair {
  std::vector<float> key, value;
};

void attend(const float* query, double scale, const std::vector<Pair>& keys, std::span<float> out) {
  std::vector<double> scores;
  for (const Pair& one : keys) {
    double score = 0;
    for (std::size_t i = 0; i < out.size(); ++i) score += static_cast<double>(query[i]) * one.key[i];
    scores.push_back(score * scale);
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> mixed(out.size());
  double total = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double weight = std::exp(scores[j] - highest);
    total += weight;
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += weight * keys[j].value[i];
  }
  for (std::size_t i = 0; i < mixed.size(); ++i) out[i] = static_cast<float>(mixed[i] / total);
}

}  // namespace

void get_key(const KeyFormat& format, const std::byte* block, int slot, float* key, float* value) {
  const KeyBlockLayout layout(format);
  const bool has_scales = format.type == KeyType::q8;
  for (int i = 0; i < format.head_dim; ++i) {
    const int group = i / kScaleGroup;
    const float key_scale = has_scales ? scale_at(block + layout.key_scales, group * kKeyBlock + slot) : 1;
    const float value_scale = has_scales ? scale_at(block + layout.value_scales, slot * layout.groups + group) : 1;
    key[i] = decode(format.type, block + layout.key_at(i, slot), key_scale);
    value[i] = decode(format.type, block + layout.value_at(slot, i), value_scale);
  }
}

void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, const KeyFormat& format, float scale) {
  const auto size = static_cast<std::size_t>(format.head_dim);
  for (const AttentionQuery& query : queries) {
    std::vector<Pair> keys;
    for (const KeyRun& run : {shared, query.own})
      for (std::int64_t j = 0; j < run.keys; ++j) {
        Pair& one = keys.emplace_back(Pair{std::vector<float>(size), std::vector<float>(size)});
        get_key(format, run.pages[j / kKeyBlock] + run.offset, static_cast<int>(j % kKeyBlock), one.key.data(),
                one.value.data());
      }
    attend(query.query, static_cast<double>(scale), keys, {query.out, size});
  }
}

}  // namespace agon::kernels::reference
