#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention/attention.h"

namespace agon::kernels::reference {
namespace {

struct Key {
  const float* block;
  int slot;
};

void attend(const float* query, int head_dim, double scale, const std::vector<Key>& keys, float* out) {
  const int value_stride = (head_dim + kKeyBlock - 1) / kKeyBlock * kKeyBlock;
  std::vector<double> scores;
  for (const Key& key : keys) {
    double score = 0;
    for (int i = 0; i < head_dim; ++i) score += static_cast<double>(query[i]) * key.block[i * kKeyBlock + key.slot];
    scores.push_back(score * scale);
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> mixed(static_cast<std::size_t>(head_dim));
  double total = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const double weight = std::exp(scores[j] - highest);
    const float* value = keys[j].block + head_dim * kKeyBlock + keys[j].slot * value_stride;
    total += weight;
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += weight * value[i];
  }
  for (std::size_t i = 0; i < mixed.size(); ++i) out[i] = static_cast<float>(mixed[i] / total);
}

}  // namespace

void attention(std::span<const AttentionQuery> queries, const KeyRun& shared, int head_dim, float scale) {
  for (const AttentionQuery& query : queries) {
    std::vector<Key> keys;
    for (const KeyRun& run : {shared, query.own})
      for (std::int64_t j = 0; j < run.keys; ++j)
        keys.push_back({run.pages[j / kKeyBlock] + run.offset, static_cast<int>(j % kKeyBlock)});
    attend(query.query, head_dim, static_cast<double>(scale), keys, query.out);
  }
}

}  // namespace agon::kernels::reference
