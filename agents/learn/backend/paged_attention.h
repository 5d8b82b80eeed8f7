// agents/learn/backend/paged_attention.h - keys and values in pages on a device of LibTorch, and the attention of the
// rows of a batch over them. Letters: R rows, T tokens, d width of a head.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "agents/engine/backend.h"
#include "agents/hub/model_config.h"

namespace agon::agents {

// The pages of a PagePool by their numbers: place p is token p % 16 of page p / 16. Belongs to one thread.
class PageMemory {
 public:
  struct Layer {
    at::Tensor keys, values;  // [places, key-value heads, d]
  };
  PageMemory(const TextConfig& config, const at::TensorOptions& options);
  std::int64_t page_bytes() const;
  // Room for page numbers below `pages`, which are at most `most`; keeps what is there.
  void require(std::int64_t pages, std::int64_t most);
  void copy_page(std::int64_t from, std::int64_t to);
  const Layer& layer(std::size_t index) const { return layers_[index]; }

 private:
  std::int64_t page_elements_ = 0, pages_ = 0;  // elements of a page's keys in one layer
  std::vector<Layer> layers_;
};

// The attention of one pass, for all its layers: it keeps the rows' own keys and values first. Rows of one sequence
// attend together. Rows of several sequences with one prefix read it once: what they see there and what they see of
// their own is computed apart, in fp32, and merged by the logarithms of the two sums (as in arXiv 2402.05099).
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
    at::Tensor places;   // [T]: all that the last of them sees
    at::Tensor visible;  // [rows, T]; undefined: row i sees the first i + 1
  };
  // Rows of several sequences.
  struct Group {
    at::Tensor rows;           // [n]: their numbers
    at::Tensor prefix;         // [T]: what all of them see first; undefined: nothing
    at::Tensor own, past_end;  // [n, T]: what each sees alone, filled up to the longest; true: filled up
  };
  at::Tensor on_device(const std::vector<std::int64_t>& values) const;
  void add_run(std::span<const DecoderRow> rows, std::int64_t begin);
  void add_group(std::span<const DecoderRow> rows, const std::vector<std::int64_t>& numbers, bool shares_prefix);
  at::Tensor attend_run(const Run& run, const PageMemory::Layer& layer, const at::Tensor& queries) const;
  at::Tensor attend_group(const Group& group, const PageMemory::Layer& layer, const at::Tensor& queries) const;

  const PageMemory& memory_;
  at::Device device_;
  at::Tensor places_;  // [R]: where each row's own key is kept
  std::vector<Run> runs_;
  std::vector<Group> groups_;
};

}  // namespace agon::agents
