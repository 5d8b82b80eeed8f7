// agents/hub/tokenizer/merge_table.h - the table of merges of a byte-pair encoding; it merges the symbols of a word
// into tokens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace agon::agents {

// Maps (left id, right id) to a merge. Open addressing, at most five eighths full. Immutable after construction,
// thread-safe.
class MergeTable {
 public:
  struct Merge {
    std::int32_t rank = -1, result = -1;
  };
  // Ids of left, right and result of each merge, in order of rank.
  explicit MergeTable(std::span<const std::array<std::int32_t, 3>> merges);
  const Merge* find(std::int32_t left, std::int32_t right) const {  // null: they do not merge
    const std::size_t slot = find_slot(key(left, right));
    return keys_[slot] == kEmpty ? nullptr : &merges_[slot];
  }
  // Merges neighbours as long as possible: lowest rank first, of equal rank the leftmost. Takes O(n log n).
  void merge_all(std::vector<std::int32_t>& symbols) const;

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::size_t find_slot(std::uint64_t wanted) const {
    std::uint64_t hash = wanted * 0x9e3779b97f4a7c15ull;
    std::size_t slot = (hash ^ hash >> 32) & (keys_.size() - 1);
    while (keys_[slot] != kEmpty && keys_[slot] != wanted) slot = (slot + 1) & (keys_.size() - 1);
    return slot;
  }

  std::vector<std::uint64_t> keys_;
  std::vector<Merge> merges_;
};

}  // namespace agon::agents
