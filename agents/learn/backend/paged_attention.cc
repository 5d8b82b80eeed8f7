#include "agents/learn/backend/paged_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/logaddexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace agon::agents {
namespace {

using at::Tensor;
using Places = std::vector<std::int64_t>;

constexpr std::int64_t kPageTokens = kernels::kKeyBlock;

void append_places(const KeyValues& keys, std::int64_t tokens, Places& places) {
  for (std::int64_t token = 0; token < tokens; ++token) places.push_back(keys.place_of(token));
}

// Places of the prompt tokens that a row sees; empty if it has no prompt.
Places prefix_places(const DecoderRow& row) {
  Places places;
  if (row.prefix) append_places(*row.prefix, row.prefix_tokens, places);
  return places;
}

// Attention of some queries over some keys: the weighted mean of the values, and the logarithm of the sum of the
// weights.
struct Seen {
  Tensor values, log_sums;  // [..., queries, d], [..., queries, 1]
};

// scores [..., queries, keys], values [..., keys, d].
Seen see(const Tensor& scores, const Tensor& values) {
  const Tensor log_sums = at::logsumexp(scores, -1, true);
  return {at::matmul((scores - log_sums).exp(), values), log_sums};
}

Tensor merge(const Seen& a, const Seen& b) {
  const Tensor log_sums = at::logaddexp(a.log_sums, b.log_sums);
  return a.values * (a.log_sums - log_sums).exp() + b.values * (b.log_sums - log_sums).exp();
}

// queries [n, key-value heads, heads of each, d], keys and values [T, key-value heads, d], the same for all queries.
Seen see_prefix(const Tensor& queries, const Tensor& keys, const Tensor& values) {
  const std::int64_t n = queries.size(0), kv = queries.size(1), heads = queries.size(2), size = queries.size(3);
  const Tensor by_head = queries.transpose(0, 1).reshape({kv, n * heads, size});
  const Seen seen = see(at::bmm(by_head, keys.permute({1, 2, 0})), values.transpose(0, 1));
  const auto by_row = [&](const Tensor& x) { return x.view({kv, n, heads, -1}).transpose(0, 1); };
  return {by_row(seen.values), by_row(seen.log_sums)};
}

}  // namespace

PageMemory::PageMemory(const TextConfig& config, const at::TensorOptions& options)
    : page_elements_(kPageTokens * config.num_key_value_heads * config.head_dim()),
      layers_(static_cast<std::size_t>(config.num_hidden_layers)) {
  for (Layer& layer : layers_)
    for (Tensor* tensor : {&layer.keys, &layer.values})
      *tensor = at::empty({0, config.num_key_value_heads, config.head_dim()}, options);
}

std::int64_t PageMemory::page_bytes() const {
  const std::int64_t element = layers_.empty() ? 0 : static_cast<std::int64_t>(layers_.front().keys.element_size());
  return 2 * page_elements_ * element * std::ssize(layers_);
}

void PageMemory::require(std::int64_t pages, std::int64_t most) {
  if (pages <= pages_) return;
  pages = std::min(std::max(pages, 2 * pages_), most);
  for (Layer& layer : layers_)
    for (Tensor* tensor : {&layer.keys, &layer.values}) {
      const Tensor larger = at::empty({pages * kPageTokens, tensor->size(1), tensor->size(2)}, tensor->options());
      larger.narrow(0, 0, tensor->size(0)).copy_(*tensor);
      *tensor = larger;
    }
  pages_ = pages;
}

void PageMemory::copy_page(std::int64_t from, std::int64_t to) {
  for (const Layer& layer : layers_)
    for (const Tensor* tensor : {&layer.keys, &layer.values})
      tensor->narrow(0, to * kPageTokens, kPageTokens).copy_(tensor->narrow(0, from * kPageTokens, kPageTokens));
}

PagedAttention::PagedAttention(const PageMemory& memory, std::span<const DecoderRow> rows)
    : memory_(memory), device_(memory.layer(0).keys.device()) {
  Places kept, alone;
  for (const DecoderRow& row : rows) kept.push_back(row.own->place_of(row.index));
  places_ = on_device(kept);
  std::map<const KeyValues*, Places> by_prefix;  // rows that are alone in their sequence
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    for (end = begin + 1; end < rows.size() && rows[end].own == rows[begin].own;) ++end;
    if (end - begin > 1)
      add_run(rows.subspan(begin, end - begin), static_cast<std::int64_t>(begin));
    else
      by_prefix[rows[begin].prefix].push_back(static_cast<std::int64_t>(begin));
  }
  for (const auto& [prefix, numbers] : by_prefix)
    if (prefix && numbers.size() > 1)
      add_group(rows, numbers, true);
    else
      alone.insert(alone.end(), numbers.begin(), numbers.end());
  if (!alone.empty()) add_group(rows, alone, false);
}

Tensor PagedAttention::on_device(const Places& values) const { return at::tensor(values, at::kLong).to(device_); }

void PagedAttention::add_run(std::span<const DecoderRow> rows, std::int64_t begin) {
  Places places = prefix_places(rows.front());
  const std::int64_t before = std::ssize(places) + rows.front().index;  // places that the first row sees before its own
  append_places(*rows.back().own, rows.back().index + 1, places);
  Run run{begin, std::ssize(rows), on_device(places), {}};
  const auto options = at::TensorOptions(at::kLong).device(device_);
  if (before > 0)
    run.visible =
        at::arange(std::ssize(places), options) <= at::arange(before, before + run.rows, options).unsqueeze(1);
  runs_.push_back(std::move(run));
}

void PagedAttention::add_group(std::span<const DecoderRow> rows, const Places& numbers, bool shares_prefix) {
  std::vector<Places> own;
  std::size_t longest = 0;
  for (const std::int64_t number : numbers) {
    const DecoderRow& row = rows[static_cast<std::size_t>(number)];
    own.push_back(shares_prefix ? Places() : prefix_places(row));
    append_places(*row.own, row.index + 1, own.back());
    longest = std::max(longest, own.back().size());
  }
  Places lengths, all;
  for (Places& places : own) {
    lengths.push_back(std::ssize(places));
    places.resize(longest, places.back());  // padding: any place that holds numbers
    all.insert(all.end(), places.begin(), places.end());
  }
  Group group{on_device(numbers), {}, on_device(all).view({std::ssize(own), -1}), {}};
  if (shares_prefix) group.prefix = on_device(prefix_places(rows[static_cast<std::size_t>(numbers.front())]));
  group.past_end = at::arange(group.own.size(1), group.own.options()) >= on_device(lengths).unsqueeze(1);
  groups_.push_back(std::move(group));
}

Tensor PagedAttention::operator()(std::size_t index, const Tensor& queries, const Tensor& keys,
                                  const Tensor& values) const {
  const PageMemory::Layer& layer = memory_.layer(index);
  Tensor(layer.keys).index_copy_(0, places_, keys);
  Tensor(layer.values).index_copy_(0, places_, values);
  Tensor attended = at::empty_like(queries);
  for (const Run& run : runs_)
    attended.narrow(0, run.begin, run.rows).copy_(attend_run(run, layer, queries.narrow(0, run.begin, run.rows)));
  for (const Group& group : groups_)
    attended.index_copy_(0, group.rows, attend_group(group, layer, queries.index_select(0, group.rows)));
  return attended.flatten(1);
}

Tensor PagedAttention::attend_run(const Run& run, const PageMemory::Layer& layer, const Tensor& queries) const {
  const std::int64_t heads = queries.size(1) / layer.keys.size(1);
  const auto gathered = [&](const Tensor& from) {
    return from.index_select(0, run.places).transpose(0, 1).repeat_interleave(heads, 0).unsqueeze(0);
  };
  const bool is_whole = !run.visible.defined();
  const Tensor out = at::scaled_dot_product_attention(
      queries.transpose(0, 1).unsqueeze(0), gathered(layer.keys), gathered(layer.values),
      is_whole ? std::optional<Tensor>() : std::optional<Tensor>(run.visible), 0.0, is_whole);
  return out.squeeze(0).transpose(0, 1);
}

Tensor PagedAttention::attend_group(const Group& group, const PageMemory::Layer& layer, const Tensor& queries) const {
  const std::int64_t kv = layer.keys.size(1), size = queries.size(2), n = group.own.size(0);
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  const Tensor scaled = queries.to(at::kFloat).view({n, kv, -1, size}) * scale;
  const auto gathered = [](const Tensor& from, const Tensor& places) {
    return from.index_select(0, places.flatten()).to(at::kFloat);
  };
  const auto by_head = [&](const Tensor& rows) { return rows.view({n, -1, kv, size}).transpose(1, 2); };
  const Tensor keys = by_head(gathered(layer.keys, group.own)), values = by_head(gathered(layer.values, group.own));
  const Tensor scores = at::matmul(scaled, keys.transpose(2, 3));
  const Tensor past_end = group.past_end.view({n, 1, 1, -1});
  Seen seen = see(scores.masked_fill(past_end, -std::numeric_limits<double>::infinity()), values);
  if (group.prefix.defined())
    seen.values =
        merge(see_prefix(scaled, gathered(layer.keys, group.prefix), gathered(layer.values, group.prefix)), seen);
  return seen.values.reshape(queries.sizes()).to(queries.scalar_type());
}

}  // namespace agon::agents
