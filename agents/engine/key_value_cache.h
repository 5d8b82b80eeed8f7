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

// The types in which keys and values may be stored, by name; "auto" is f32.
inline constexpr std::string_view kKeyTypes[] = {"auto", "f32", "bf16", "q8"};
std::optional<kernels::KeyType> find_key_type(std::string_view name);
std::string_view name_of(kernels::KeyType type);

// A pool of pages, each of which holds the keys and values of 16 tokens of a sequence: one block of kernels/attention
// per layer and key-value head. A backend with memory of its own stores them there, under the page's number. Pages are
// allocated on first use and then kept; promised and used pages together never exceed `max_pages`. Sequences with equal
// starts share pages. Used by one thread only.
class PagePool {
 public:
  PagePool(const TextConfig& config, std::int64_t max_bytes, kernels::KeyType type = kernels::KeyType::f32);
  PagePool(std::int64_t page_bytes, std::int64_t max_pages);  // for a backend with memory of its own
  static std::int64_t pages_for(std::int64_t tokens) { return (tokens + kernels::kKeyBlock - 1) / kernels::kKeyBlock; }
  // Bytes of one page, capped at 2^60.
  static std::int64_t bytes_for(const TextConfig& config, kernels::KeyType type);
  const kernels::KeyFormat& format() const { return format_; }
  std::int64_t max_pages() const { return max_pages_; }
  std::int64_t page_bytes() const { return page_bytes_; }
  std::int64_t numbers() const { return std::ssize(pages_); }  // every page taken so far has a smaller number
  std::int64_t head_offset(int layer, int head) const { return (layer * heads_ + head) * head_bytes_; }
  bool promise(std::int64_t pages);                    // reserves pages; false if they would exceed max_pages
  std::int64_t promised() const { return promised_; }  // promised pages and pages in use
  void release(std::int64_t pages) { promised_ -= pages; }

  struct Page {
    kernels::AlignedFloats memory;
    std::int64_t number = 0;
    int users = 0;
  };
  Page* take();  // takes a promised page
  void give_back(Page* page) noexcept;

 private:
  kernels::KeyFormat format_;
  std::int64_t heads_ = 0, head_bytes_ = 0, page_bytes_, max_pages_;
  std::int64_t promised_ = 0;  // includes the pages in use
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
  void require(std::int64_t tokens);  // takes pages for `tokens`; REQUIRES: within the promised and shared pages
  // Shares the whole pages among the first `tokens` of another run; they become read-only. REQUIRES: this run has no
  // pages yet.
  void share(const KeyValues& other, std::int64_t tokens);
  // If the first `tokens` of another run end within a page, copies the tokens of that page into the same page of this
  // run.
  void copy_rest(const KeyValues& other, std::int64_t tokens);
  std::int64_t pages_alone() const;  // number of pages that no other run shares
  // A token's index in a backend's own memory, where page n holds the tokens from 16 n on.
  std::int64_t place_of(std::int64_t token) const {
    const PagePool::Page& page = *pages_[static_cast<std::size_t>(token / kernels::kKeyBlock)];
    return page.number * kernels::kKeyBlock + token % kernels::kKeyBlock;
  }
  // The memory of the page that holds a token.
  std::byte* page_of(std::int64_t token) const { return blocks_[static_cast<std::size_t>(token / kernels::kKeyBlock)]; }
  // Tokens [begin, end) of the head whose blocks are at head_offset in each page. REQUIRES: begin is a multiple of 16.
  kernels::KeyRun run(std::int64_t head_offset, std::int64_t begin, std::int64_t end) const {
    return {blocks_.data() + begin / kernels::kKeyBlock, head_offset, end - begin};
  }

 private:
  void reserve(std::int64_t pages);
  void add(PagePool::Page* page);  // REQUIRES: reserved

  PagePool* pool_;
  std::int64_t promised_;  // promised pages that are not yet taken
  std::vector<PagePool::Page*> pages_;
  std::vector<std::byte*> blocks_;  // of the pages
};

}  // namespace agon::agents
