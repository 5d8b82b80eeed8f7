// core/recently_used.h - a cache (LRU) of values by the hashes of their inputs, limited in bytes.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "core/hash.h"

namespace agon {

// Shared values by key; drops the least recently used ones, but never the last one added. Every call takes logarithmic
// time. Belongs to one thread.
template <typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::int64_t bytes) : bytes_(bytes) {}

  std::shared_ptr<const Value> find(const Hash128& key) {  // null: absent
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    order_.splice(order_.end(), order_, found->second);
    return found->second->value;
  }
  // Replaces the value of that key.
  void add(const Hash128& key, std::shared_ptr<const Value> value, std::int64_t bytes) {
    order_.push_back({key, std::move(value), bytes});
    const auto last = std::prev(order_.end());
    try {
      const auto [entry, fresh] = entries_.try_emplace(key, last);
      if (!fresh) remove(std::exchange(entry->second, last));
    } catch (...) {
      order_.pop_back();
      throw;
    }
    held_ += bytes;
    while (held_ > bytes_ && order_.size() > 1) {
      entries_.erase(order_.front().key);
      remove(order_.begin());
    }
  }
  void clear() {
    entries_.clear();
    order_.clear();
    held_ = 0;
  }

 private:
  struct Entry {
    Hash128 key;
    std::shared_ptr<const Value> value;
    std::int64_t bytes;
  };
  using Order = std::list<Entry>;  // least recently used first
  void remove(typename Order::iterator entry) {
    held_ -= entry->bytes;
    order_.erase(entry);
  }
  std::int64_t bytes_, held_ = 0;
  Order order_;
  std::map<Hash128, typename Order::iterator> entries_;
};

}  // namespace agon
