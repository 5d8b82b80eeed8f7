// agents/engine/key_value_cache.h - memory for the keys and values of the decoder, in pages of 16 tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "agents/hub/model_config.h"
#include "kernels/aligned.h"
#include "kernels/attention/attention.h"

namespace agon::agents {

// The types that keys and values may be kept in, by name; "auto" is f32.
inline constexpr std::string_view kKeyTypes[] = {"auto", "f32", "bf16", "q8"};
std::optional<kernels::KeyType> find_key_type(std::string_view name);
std::string_view name_of(kernels::KeyType type);

// A page holds 16 tokens of one sequence: for every layer and key-value head one block of kernels/attention, or what a
// backend with a memory of its own keeps under the page's number. Pages are allocated when first used and kept;
// promised and used pages together never exceed `max_pages`. Sequences with equal starts share pages. Belongs to one
// thread.
class PagePool {
 public:
  PagePool(const TextConfig& config, std::int64_t max_bytes, kernels::KeyType type = kernels::KeyType::f32);
  PagePool(std::int64_t page_bytes, std::int64_t max_pages);  // of a backend with a memory of its own
  static std::int64_t pages_for(std::int64_t tokens) { return (tokens + kernels::kKeyBlock - 1) / kernels::kKeyBlock; }
  // Of one page; at most 2^60.
  static std::int64_t bytes_for(const TextConfig& config, kernels::KeyType type);
  const kernels::KeyFormat& format() const { return format_; }
  std::int64_t max_pages() const { return max_pages_; }
  std::int64_t page_bytes() const { return page_bytes_; }
  std::int64_t numbers() const { return std::ssize(pages_); }  // the numbers of pages that were ever taken are below
  std::int64_t head_offset(int layer, int head) const { return (layer * heads_ + head) * head_bytes_; }
  bool promise(std::int64_t pages);                    // false, and nothing changes, if they would exceed max_pages
  std::int64_t promised() const { return promised_; }  // and in use
  void release(std::int64_t pages) { promised_ -= pages; }

  struct Page {
    kernels::AlignedFloats memory;
    std::int64_t number = 0;
    int users = 0;
  };
  Page* take();  // one that was promised
  void give_back(Page* page) noexcept;

 private:
  kernels::KeyFormat format_;
  std::int64_t heads_ = 0, head_bytes_ = 0, page_bytes_, max_pages_;
  std::int64_t promised_ = 0;  // and in use
  std::deque<Page> pages_;
  std::vector<Page*> free_;
};

// Keys and values of one run of tokens. Its destructor returns its pages and the rest of the promise.
class KeyValues {
 public:
  KeyValues(PagePool& pool, std::int64_t promised_pages) : pool_(&pool), promised_(promised_pages) {}
  ~KeyValues();
  KeyValues(const KeyValues&) = delete;
  KeyValues& operator=(const KeyValues&) = delete;
  void require(std::int64_t tokens);  // takes pages for so many tokens; REQUIRES: within the promised and shared pages
  // Shares the whole pages of the first `tokens` of another run, which become read-only. REQUIRES: nothing was required
  // yet.
  void share(const KeyValues& other, std::int64_t tokens);
  // Copies the rest of these tokens, which does not fill a page, into a page of this run.
  void copy_rest(const KeyValues& other, std::int64_t tokens);
  std::int64_t pages_alone() const;  // pages that no other run shares
  // A token's place in a memory of pages by their numbers, 16 tokens each.
  std::int64_t place_of(std::int64_t token) const {
    const PagePool::Page& page = *pages_[static_cast<std::size_t>(token / kernels::kKeyBlock)];
    return page.number * kernels::kKeyBlock + token % kernels::kKeyBlock;
  }
  // A token's place within its page's block of (layer, head), and the page.
  std::byte* page_of(std::int64_t token) const { return blocks_[static_cast<std::size_t>(token / kernels::kKeyBlock)]; }
  // Tokens [begin, end) of the head whose blocks lie at head_offset. REQUIRES: begin is a multiple of 16.
  kernels::KeyRun run(std::int64_t head_offset, std::int64_t begin, std::int64_t end) const {
    return {blocks_.data() + begin / kernels::kKeyBlock, head_offset, end - begin};
  }

 private:
  void reserve(std::int64_t pages);
  void add(PagePool::Page* page);  // REQUIRES: reserved

  PagePool* pool_;
  std::int64_t promised_;  // and not yet taken
  std::vector<PagePool::Page*> pages_;
  std::vector<std::byte*> blocks_;  // of the pages
};

}  // namespace agon::agents
