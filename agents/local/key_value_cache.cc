#include "agents/local/key_value_cache.h"

#include <cassert>

namespace agon::agents {

PagePool::PagePool(const TextConfig& config, std::int64_t max_bytes)
    : heads_(config.num_key_value_heads),
      head_floats_(kernels::key_block_floats(config.head_dim())),
      page_floats_(config.num_hidden_layers * heads_ * head_floats_),
      max_pages_(max_bytes / page_bytes()) {}

bool PagePool::promise(std::int64_t pages) {
  if (promised_ + pages > max_pages_) return false;
  promised_ += pages;
  return true;
}

float* PagePool::take() {
  if (free_.empty()) return pages_.emplace_back(static_cast<std::size_t>(page_floats_)).data();
  float* page = free_.back();
  free_.pop_back();
  return page;
}

KeyValues::~KeyValues() {
  for (float* page : pages_) pool_->give_back(page);
  pool_->release(promised_);
}

void KeyValues::require(std::int64_t tokens) {
  assert(PagePool::pages_for(tokens) <= promised_);
  while (static_cast<std::int64_t>(pages_.size()) < PagePool::pages_for(tokens)) pages_.push_back(pool_->take());
}

}  // namespace agon::agents
