#include "critic/search/methods/searcher.h"

#include <algorithm>

namespace agon::critic {
namespace {

// Samples whole solutions; keeps the best one, or the most frequent answer.
class BestOfN : public Searcher {
 public:
  using Searcher::Searcher;

  Answer greedy() {
    std::vector<int> line = {tree_.add_root()};
    while (!line.empty()) {
      const std::vector<int> next = flat(tree_.expand(line, 1, Writing::greedy));
      end_full(line);
      line = go_on(next);
    }
    return first_done();
  }

  Answer best_of_n() {
    sample();
    return first_ranked();
  }

  Answer majority() {
    sample();
    return by_vote([](int) { return 1.0; });
  }

  Answer weighted_majority() {
    sample();
    count_unranked();
    return by_vote([this](int node) { return rank_of(tree_, node, options_.rank); });
  }

 private:
  // Samples n trajectories, as many in parallel as the budget is sure to hold.
  void sample() {
    std::int64_t each = 0;  // estimated tokens of a trajectory; 0: unknown
    for (int begun = 0, some = 0; begun < options_.n && may_sample(begun); begun += some) {
      some = side_by_side(options_.n - begun, each);
      const std::int64_t before = account_.spent().policy_tokens;
      sample_together(some);
      each = std::max(each, (account_.spent().policy_tokens - before) / some + 1);
    }
    std::sort(done_.begin(), done_.end(), [this](int a, int b) { return root_of(a) < root_of(b); });
  }

  // The first trajectory is written even if the critic's budget has ended.
  bool may_sample(int begun) const {
    return account_.may_write() && (begun == 0 || !uses_critic() || account_.may_judge());
  }

  int side_by_side(int wanted, std::int64_t each) const {
    const std::int64_t left = account_.policy_tokens_left();
    if (left == kNoTokenLimit) return wanted;
    if (each == 0) return 1;
    return static_cast<int>(std::clamp<std::int64_t>(left / 2 / each, 1, wanted));
  }

  void sample_together(int count) {
    std::vector<int> lines;
    for (int i = 0; i < count; ++i) lines.push_back(tree_.add_root());
    while (!lines.empty()) {
      const std::vector<int> next = flat(tree_.extend(lines));
      end_full(lines);
      if (uses_critic()) tree_.judge(next);
      lines = go_on(next);
    }
  }

  bool uses_critic() const { return needs_critic(options_); }

  int root_of(int node) const {
    while (!tree_.at(node).is_root()) node = tree_.at(node).parent;
    return node;
  }
};

}  // namespace

Answer greedy(Tree& tree, const MethodOptions& options) { return BestOfN(tree, options).greedy(); }
Answer best_of_n(Tree& tree, const MethodOptions& options) { return BestOfN(tree, options).best_of_n(); }
Answer majority(Tree& tree, const MethodOptions& options) { return BestOfN(tree, options).majority(); }
Answer weighted_majority(Tree& tree, const MethodOptions& options) {
  return BestOfN(tree, options).weighted_majority();
}

}  // namespace agon::critic
