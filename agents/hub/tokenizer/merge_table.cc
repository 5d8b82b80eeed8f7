#include "agents/hub/tokenizer/merge_table.h"

#include <queue>

namespace agon::agents {
namespace {

// Merges one word: a linked list of symbols in a vector, and a queue of possible merges by rank, then position.
class WordMerger {
 public:
  WordMerger(const MergeTable& table, std::vector<std::int32_t>& ids) : table_(table), ids_(ids) {
    const int count = static_cast<int>(ids.size());
    links_.reserve(ids.size());
    for (int i = 0; i < count; ++i) links_.push_back({i - 1, i + 1 < count ? i + 1 : -1});
    for (int i = 0; i + 1 < count; ++i) propose(i);
  }
  void run() {
    while (!candidates_.empty()) {
      const Candidate candidate = candidates_.top();
      candidates_.pop();
      if (still_there(candidate)) apply(candidate);
    }
    std::size_t count = 0;
    for (int i = ids_.empty() ? -1 : 0; i >= 0; i = links_[static_cast<std::size_t>(i)].next)
      ids_[count++] = ids_[static_cast<std::size_t>(i)];
    ids_.resize(count);
  }

 private:
  struct Link {
    int previous, next;
  };
  struct Candidate {
    std::int32_t rank;
    int position;
    std::int32_t left, right, result;
    bool operator<(const Candidate& other) const {  // priority_queue puts the largest first
      return rank != other.rank ? rank > other.rank : position > other.position;
    }
  };
  Link& link(int i) { return links_[static_cast<std::size_t>(i)]; }
  std::int32_t& id(int i) { return ids_[static_cast<std::size_t>(i)]; }

  void propose(int position) {
    const int next = position < 0 ? -1 : link(position).next;
    if (next < 0) return;
    if (const MergeTable::Merge* merge = table_.find(id(position), id(next)))
      candidates_.push({merge->rank, position, id(position), id(next), merge->result});
  }
  bool still_there(const Candidate& candidate) {
    const int next = link(candidate.position).next;
    return id(candidate.position) == candidate.left && next >= 0 && id(next) == candidate.right;
  }
  void apply(const Candidate& candidate) {
    const int position = candidate.position, right = link(position).next, after = link(right).next;
    id(position) = candidate.result;
    id(right) = -1;  // removed: no candidate matches it
    link(position).next = after;
    if (after >= 0) link(after).previous = position;
    propose(link(position).previous);
    propose(position);
  }

  const MergeTable& table_;
  std::vector<std::int32_t>& ids_;
  std::vector<Link> links_;
  std::priority_queue<Candidate> candidates_;
};

}  // namespace

MergeTable::MergeTable(std::span<const std::array<std::int32_t, 3>> merges) {
  std::size_t slots = 16;
  while (5 * slots < 8 * merges.size()) slots *= 2;
  keys_.assign(slots, kEmpty);
  merges_.resize(slots);
  std::int32_t rank = 0;
  for (const auto& [left, right, result] : merges) {
    const std::size_t slot = find_slot(key(left, right));
    keys_[slot] = key(left, right);
    merges_[slot] = {rank++, result};
  }
}

void MergeTable::merge_all(std::vector<std::int32_t>& symbols) const { WordMerger(*this, symbols).run(); }

}  // namespace agon::agents
