// agents/learn/backend/paged_attention.h - paged attention in LibTorch: keys and values stored in pages on a device,
// and the attention of a batch of rows (one token each) over them. Letters: R rows, T tokens, d width of a head.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agents/engine/backend.h"
#include "agents/hub/model_config.h"

namespace agon::agents {

// Keys and values of the pages of a PagePool, by page number: place p is token p % 16 of page p / 16. Used by one
// thread.
class PageMemory {
 public:
  struct Layer {
    at::Tensor keys, values;  // [places, key-value heads, d]
  };
  PageMemory(const TextConfig& config, const at::TensorOptions& options);
  std::int64_t page_bytes() const;
  // Makes room for page numbers below `pages` and keeps the contents. most: limit of the pages, at least `pages`.
  void require(std::int64_t pages, std::int64_t most);
  void copy_page(std::int64_t from, std::int64_t to);
  const Layer& layer(std::size_t index) const { return layers_[index]; }

 private:
  std::int64_t page_elements_ = 0, pages_ = 0;  // elements of a page's keys in one layer
  std::vector<Layer> layers_;
};

// The attention of one pass, for all its layers. Each call first stores the rows' own keys and values. Several rows of
// one sequence attend together. Single rows of sequences with a common prefix read it once: attention over the prefix
// and over each row's own tokens is computed separately in fp32, then merged by log-sum-exp (Hydragen, arXiv
// 2402.05099).
class PagedAttention {
 public:
  // Keeps a reference to the memory. REQUIRES: it has room for all pages of the rows.
  PagedAttention(const PageMemory& memory, std::span<const DecoderRow> rows);
  // queries [R, heads, d], keys and values [R, key-value heads, d] -> [R, heads * d]
  at::Tensor operator()(std::size_t layer, const at::Tensor& queries, const at::Tensor& keys,
                        const at::Tensor& values) const;

 private:
  // Rows of one sequence that follow each other.
  struct Run {
    std::int64_t begin = 0, rows = 0;
    at::Tensor places;   // [T]: the places that the last row sees
    at::Tensor visible;  // [rows, T]; undefined: row i sees the first i + 1 places
  };
  // Rows of different sequences, one of each.
  struct Group {
    at::Tensor rows;    // [n]: indices of the rows
    at::Tensor prefix;  // [T]: places of the common prefix; undefined: none
    // own [n, T]: the other places that each row sees, padded to the longest row. past_end [n, T]: true for padding.
    at::Tensor own, past_end;
  };
  at::Tensor on_device(const std::vector<std::int64_t>& values) const;
  void add_run(std::span<const DecoderRow> rows, std::int64_t begin);
  void add_group(std::span<const DecoderRow> rows, const std::vector<std::int64_t>& numbers, bool shares_prefix);
  at::Tensor attend_run(const Run& run, const PageMemory::Layer& layer, const at::Tensor& queries) const;
  at::Tensor attend_group(const Group& group, const PageMemory::Layer& layer, const at::Tensor& queries) const;

  const PageMemory& memory_;
  at::Device device_;
  at::Tensor places_;  // [R]: place of each row's own key
  std::vector<Run> runs_;
  std::vector<Group> groups_;
};

}  // namespace agon::agents
