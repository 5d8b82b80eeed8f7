#include "agents/engine/key_value_cache.h"

#include <algorithm>
#include <cassert>

namespace agon::agents {

std::optional<kernels::KeyType> find_key_type(std::string_view name) {
  if (name == kKeyTypes[0]) return kernels::KeyType::f32;
  for (const auto type : {kernels::KeyType::f32, kernels::KeyType::bf16, kernels::KeyType::q8})
    if (name == name_of(type)) return type;
  return std::nullopt;
}

std::string_view name_of(kernels::KeyType type) { return kKeyTypes[1 + static_cast<std::size_t>(type)]; }

std::int64_t PagePool::bytes_for(const TextConfig& config, kernels::KeyType type) {
  constexpr double kMost = 1LL << 60;  // a damaged config must not overflow
  const auto head = static_cast<double>(kernels::key_block_bytes({type, config.head_dim()}));
  return static_cast<std::int64_t>(std::min(kMost, head * config.num_key_value_heads * config.num_hidden_layers));
}

PagePool::PagePool(const TextConfig& config, std::int64_t max_bytes, kernels::KeyType type)
    : format_{type, config.head_dim()},
      heads_(config.num_key_value_heads),
      head_bytes_(kernels::key_block_bytes(format_)),
      page_bytes_(bytes_for(config, type)),
      max_pages_(max_bytes / page_bytes_) {}

PagePool::PagePool(std::int64_t page_bytes, std::int64_t max_pages) : page_bytes_(page_bytes), max_pages_(max_pages) {}

bool PagePool::promise(std::int64_t pages) {
  if (promised_ + pages > max_pages_) return false;
  promised_ += pages;
  return true;
}

PagePool::Page* PagePool::take() {
  if (free_.empty()) {
    if (free_.capacity() <= pages_.size()) free_.reserve(2 * pages_.size() + 1);  // give_back allocates nothing
    const std::int64_t bytes = head_bytes_ > 0 ? page_bytes_ : 0;
    return &pages_.emplace_back(
        Page{kernels::AlignedFloats(static_cast<std::size_t>(bytes) / sizeof(float)), std::ssize(pages_)});
  }
  Page* page = free_.back();
  free_.pop_back();
  return page;
}

void PagePool::give_back(Page* page) noexcept {
  if (--page->users > 0) return;
  free_.push_back(page);
  release(1);
}

KeyValues::~KeyValues() {
  for (PagePool::Page* page : pages_) pool_->give_back(page);
  pool_->release(promised_);
}

void KeyValues::reserve(std::int64_t pages) {
  pages_.reserve(static_cast<std::size_t>(pages));
  blocks_.reserve(static_cast<std::size_t>(pages));
}

void KeyValues::add(PagePool::Page* page) {
  ++page->users;
  pages_.push_back(page);
  blocks_.push_back(reinterpret_cast<std::byte*>(page->memory.data()));
}

void KeyValues::require(std::int64_t tokens) {
  if (PagePool::pages_for(tokens) > std::ssize(pages_))  // before a page is taken; grows geometrically
    reserve(std::max(PagePool::pages_for(tokens), 2 * std::ssize(pages_)));
  for (; std::ssize(pages_) < PagePool::pages_for(tokens); --promised_) {
    assert(promised_ > 0);
    add(pool_->take());
  }
}

void KeyValues::share(const KeyValues& other, std::int64_t tokens) {
  assert(pages_.empty());
  reserve(tokens / kernels::kKeyBlock);
  for (std::int64_t page = 0; page < tokens / kernels::kKeyBlock; ++page)
    add(other.pages_[static_cast<std::size_t>(page)]);
}

void KeyValues::copy_rest(const KeyValues& other, std::int64_t tokens) {
  if (tokens % kernels::kKeyBlock != 0) std::copy_n(other.page_of(tokens), pool_->page_bytes(), page_of(tokens));
}

std::int64_t KeyValues::pages_alone() const {
  return std::count_if(pages_.begin(), pages_.end(), [](const PagePool::Page* page) { return page->users == 1; });
}

}  // namespace agon::agents
