#include "agents/engine/decoder.h"

#include <algorithm>
#include <cmath>

#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rotary/rotary.h"

namespace agon::agents {

using kernels::ParallelFor;
using kernels::Store;

namespace {

constexpr std::size_t kMostTogether = 8;  // most rows in a group

std::vector<RowGroup> group_rows(std::span<const DecoderRow> rows) {
  std::vector<RowGroup> groups;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const bool joins = r > 0 && rows[r].prefix == rows[r - 1].prefix &&
                       (rows[r].prefix || rows[r].own == rows[r - 1].own) && r - groups.back().begin < kMostTogether;
    if (!joins) groups.push_back({r, r});
    groups.back().end = r + 1;
  }
  return groups;
}

// Groups neighbouring rows by adapter; rows without one are in no group.
std::vector<AdapterGroup> group_adapters(std::span<const DecoderRow> rows) {
  std::vector<AdapterGroup> groups;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!rows[r].adapter) continue;
    const bool joins = !groups.empty() && groups.back().end == r && groups.back().adapter == rows[r].adapter;
    if (!joins) groups.push_back({r, r, rows[r].adapter});
    groups.back().end = r + 1;
  }
  return groups;
}

// The rows that an adapter changes in one layer.
void adapt(std::span<const AdapterGroup> groups, std::size_t layer, std::vector<AdaptedRows>& adapted) {
  adapted.clear();
  for (const auto& [begin, end, adapter] : groups)
    adapted.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), &adapter->layers[layer]});
}

}  // namespace

Decoder::Decoder(const EngineWeights& weights, const TextConfig& config, const PagePool& pages)
    : weights_(weights), config_(config), pages_(pages), axis_(frequency_axes(config)) {
  const auto size = static_cast<float>(config.head_dim()), theta = static_cast<float>(config.rope_theta);
  for (int i = 0; i < config.head_dim() / 2; ++i) {
    const float frequency = 1.0f / std::pow(theta, static_cast<float>(2 * i) / size);
    frequencies_.push_back(config.rope_scaling ? scaled_frequency(frequency, *config.rope_scaling) : frequency);
  }
}

void Decoder::prepare(std::int32_t positions) {
  const std::size_t half = frequencies_.size(), needed = static_cast<std::size_t>(positions) * half;
  for (std::vector<float>* table : {&cosines_, &sines_})  // first, so that both tables grow or neither
    if (needed > table->capacity()) table->reserve(std::max(needed, 2 * table->capacity()));
  for (std::size_t position = cosines_.size() / half; position < static_cast<std::size_t>(positions); ++position)
    for (const float frequency : frequencies_) {
      const float angle = static_cast<float>(position) * frequency;
      cosines_.push_back(std::cos(angle));
      sines_.push_back(std::sin(angle));
    }
}

void Decoder::look_up_angles(std::span<const DecoderRow> rows, DecoderScratch& scratch) const {
  const std::size_t half = frequencies_.size();
  scratch.cosines.require(rows.size() * half);
  scratch.sines.require(rows.size() * half);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; i < half; ++i) {
      const auto position = static_cast<std::size_t>(rows[r].position[static_cast<std::size_t>(axis_[i])]);
      scratch.cosines.data()[r * half + i] = cosines_[position * half + i];
      scratch.sines.data()[r * half + i] = sines_[position * half + i];
    }
}

void Decoder::normalise_heads(const BlockWeights& layer, std::int64_t rows, float* qkv) const {
  const int size = config_.head_dim(), heads = config_.num_attention_heads, kv_heads = config_.num_key_value_heads;
  const auto epsilon = static_cast<float>(config_.rms_norm_eps);
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const queries = qkv + r * (heads + 2 * kv_heads) * size;
    float* const keys = queries + heads * size;
    kernels::rms_norm(queries, layer.query_norm.data(), epsilon, heads, size, size, queries);
    kernels::rms_norm(keys, layer.key_norm.data(), epsilon, kv_heads, size, size, keys);
  }
}

void Decoder::attend(int layer, std::span<const DecoderRow> rows, float* qkv, float* attended,
                     const DecoderScratch& scratch, const ParallelFor& parallel) const {
  const int size = config_.head_dim(), heads = config_.num_attention_heads, kv_heads = config_.num_key_value_heads;
  const int heads_a_key = heads / kv_heads;
  const std::int64_t count = std::ssize(rows), stride = (heads + 2 * kv_heads) * size;
  if (config_.normalises_heads) normalise_heads(weights_.layers[static_cast<std::size_t>(layer)], count, qkv);
  kernels::rotate(qkv, count, stride, heads + kv_heads, size, scratch.cosines.data(), scratch.sines.data());
  for (std::int64_t r = 0; r < count; ++r)
    for (int head = 0; head < kv_heads; ++head) {
      const DecoderRow& row = rows[static_cast<std::size_t>(r)];
      const float* key = qkv + r * stride + (heads + head) * size;
      kernels::put_key(pages_.format(), key, key + kv_heads * size,
                       row.own->page_of(row.index) + pages_.head_offset(layer, head),
                       static_cast<int>(row.index % kernels::kKeyBlock));
    }
  const std::vector<RowGroup>& groups = scratch.groups;
  kernels::run_parallel(parallel, std::ssize(groups) * kv_heads, [&](std::int64_t begin, std::int64_t end) {
    thread_local kernels::AlignedFloats attention_scratch;
    for (std::int64_t task = begin; task < end; ++task) {
      const RowGroup& group = groups[static_cast<std::size_t>(task / kv_heads)];
      const int head = static_cast<int>(task % kv_heads);
      const auto row = static_cast<std::int64_t>(group.begin);
      attend_group(rows.subspan(group.begin, group.end - group.begin), qkv + row * stride + head * heads_a_key * size,
                   attended + (row * heads + head * heads_a_key) * size, pages_.head_offset(layer, head),
                   attention_scratch);
    }
  });
}

// The queries of one key-value head; queries and attended: those of the group's first row.
void Decoder::attend_group(std::span<const DecoderRow> rows, const float* queries, float* attended,
                           std::int64_t head_offset, kernels::AlignedFloats& scratch) const {
  const int size = config_.head_dim(), heads = config_.num_attention_heads, kv_heads = config_.num_key_value_heads;
  const DecoderRow& first = rows.front();
  const std::int64_t common = first.prefix ? 0 : (first.index + 1) / kernels::kKeyBlock * kernels::kKeyBlock;
  const kernels::KeyRun shared =
      first.prefix ? first.prefix->run(head_offset, 0, first.prefix_tokens) : first.own->run(head_offset, 0, common);
  thread_local std::vector<kernels::AttentionQuery> list;
  list.clear();
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (int h = 0; h < heads / kv_heads; ++h) {
      const auto row = static_cast<std::int64_t>(r);
      list.push_back({queries + row * (heads + 2 * kv_heads) * size + h * size,
                      attended + row * heads * size + h * size,
                      rows[r].own->run(head_offset, common, rows[r].index + 1)});
    }
  kernels::attention(list, shared, pages_.format(), 1.0f / std::sqrt(static_cast<float>(size)), scratch);
}

void Decoder::embed(const DecoderRow& row, float* state) const {
  if (row.embedding)
    std::copy_n(row.embedding, config_.hidden_size, state);
  else
    decode_row(*weights_.embedding, row.token, state);
}

void Decoder::add_deepstack(std::size_t layer, std::span<const DecoderRow> rows, float* hidden) const {
  if (layer >= weights_.vision.deepstack.size()) return;
  const std::size_t width = static_cast<std::size_t>(config_.hidden_size);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t i = 0; rows[r].embedding && i < width; ++i)
      hidden[r * width + i] += rows[r].embedding[(layer + 1) * width + i];
}

void Decoder::forward(std::span<const DecoderRow> rows, float* hidden, DecoderScratch& scratch,
                      const ParallelFor& parallel) const {
  const std::int64_t count = std::ssize(rows);
  const int width = config_.hidden_size;
  const auto epsilon = static_cast<float>(config_.rms_norm_eps);
  look_up_angles(rows, scratch);
  scratch.groups = group_rows(rows);
  scratch.adapters = group_adapters(rows);
  kernels::run_parallel(parallel, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) embed(rows[static_cast<std::size_t>(r)], hidden + r * width);
  });
  for (std::size_t layer = 0; layer < weights_.layers.size(); ++layer) {
    adapt(scratch.adapters, layer, scratch.adapted);
    run_block(
        weights_.layers[layer], scratch.adapted, epsilon, hidden, count, scratch.block, parallel,
        [&](float* qkv, float* attended) { attend(static_cast<int>(layer), rows, qkv, attended, scratch, parallel); });
    add_deepstack(layer, rows, hidden);
  }
  kernels::rms_norm(hidden, weights_.norm.data(), epsilon, count, width, width, hidden);
}

void Decoder::logits(const float* hidden, std::int64_t rows, float* out, const ParallelFor& parallel) const {
  thread_local LinearScratch scratch;
  run_linear(*weights_.lm_head, hidden, rows, out, Store::set, scratch, parallel);
}

}  // namespace agon::agents
