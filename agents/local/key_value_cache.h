// agents/local/key_value_cache.h - memory of the keys and values that the decoder has seen, in pages of 16 tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "agents/local/model_config.h"
#include "kernels/aligned.h"
#include "kernels/attention/attention.h"

namespace agon::agents {

// A page holds 16 tokens of one sequence: for every layer and key-value head one block of kernels/attention. Pages are
// allocated when first used and kept; no more than `max_pages` are ever promised. Belongs to one thread.
class PagePool {
 public:
  PagePool(const TextConfig& config, std::int64_t max_bytes);
  static std::int64_t pages_for(std::int64_t tokens) { return (tokens + kernels::kKeyBlock - 1) / kernels::kKeyBlock; }
  std::int64_t max_pages() const { return max_pages_; }
  std::int64_t page_bytes() const { return page_floats_ * static_cast<std::int64_t>(sizeof(float)); }
  std::int64_t head_offset(int layer, int head) const { return (layer * heads_ + head) * head_floats_; }
  bool promise(std::int64_t pages);  // false, and nothing changes, if they would pass max_pages
  void release(std::int64_t pages) { promised_ -= pages; }
  float* take();
  void give_back(float* page) { free_.push_back(page); }

 private:
  std::int64_t heads_, head_floats_, page_floats_, max_pages_, promised_ = 0;
  std::vector<kernels::AlignedFloats> pages_;
  std::vector<float*> free_;
};

// Keys and values of one run of tokens; gives its pages back when it goes.
class KeyValues {
 public:
  KeyValues(PagePool& pool, std::int64_t promised_pages) : pool_(&pool), promised_(promised_pages) {}
  ~KeyValues();
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;
  void require(std::int64_t tokens);  // pages for so many; REQUIRES: within what was promised
  // A token's place within its page's block of (layer, head), and the page.
  float* page_of(std::int64_t token) const { return pages_[static_cast<std::size_t>(token / kernels::kKeyBlock)]; }
  // Tokens [begin, end) of the head whose blocks lie at head_offset. REQUIRES: begin is a multiple of 16.
  kernels::KeyRun run(std::int64_t head_offset, std::int64_t begin, std::int64_t end) const {
    return {pages_.data() + begin / kernels::kKeyBlock, head_offset, end - begin};
  }

 private:
  PagePool* pool_;
  std::int64_t promised_;
  std::vector<float*> pages_;
};

}  // namespace agon::agents
