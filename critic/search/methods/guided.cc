#include "critic/search/methods/searcher.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace agon::critic {
namespace {

class Guided : public Searcher {
 public:
  using Searcher::Searcher;

  Answer run() {
    std::vector<int> line = {tree_.add_root()};
    while (!line.empty()) {
      const std::optional<int> step = attempt(line.front());
      end_full(line);
      line = step ? go_on({*step}) : std::vector<int>{};
    }
    return first_done();
  }

 private:
  // The kept step; nothing if the budget ended before one was kept.
  std::optional<int> attempt(int node) {
    std::vector<int> tried;
    for (int number = 1; number <= options_.attempts && (number == 1 || may_try_again(tried)); ++number) {
      const Writing writing = number == 1                     ? Writing::greedy
                              : options_.retry == Retry::anew ? Writing::anew
                                                              : Writing::sampled;
      const std::vector<int> written = tree_.expand(std::array{node}, 1, writing).front();
      if (written.empty() || tree_.at(written[0]).cut) break;
      tried.push_back(written[0]);
      if (number > 1) again_ += tree_.at(written[0]).tokens;
      tree_.judge(tried, Tree::Ahead{written[0], Writing::greedy});
      const auto& verdict = tree_.at(written[0]).verdict;
      if (!verdict || verdict->judgement != Judgement::incorrect)
        return kept(options_.keep == Keep::likeliest ? least_bad(tried) : written[0], number);
      tree_.note("reject", written[0]);
      ++answer_.rejected;
    }
    if (tried.empty()) return std::nullopt;
    --answer_.rejected;
    return kept(least_bad(tried), static_cast<int>(tried.size()));
  }

  // Whether all retries stay within a third of the budget if the next one is as long as the longest attempt so far.
  bool may_try_again(const std::vector<int>& tried) {
    const std::int64_t left = account_.policy_tokens_left();
    std::int64_t longest = 0;
    for (const int node : tried) longest = std::max(longest, tree_.at(node).tokens);
    if (left == kNoTokenLimit || again_ + longest <= (account_.spent().policy_tokens + left) / 3) return true;
    tree_.hold_back();
    return false;
  }

  int least_bad(const std::vector<int>& tried) const {
    if (options_.keep == Keep::last) return tried.back();
    if (options_.keep == Keep::best) return ranked(tried, Rank::last).front();
    return *std::max_element(tried.begin(), tried.end(), [&](int a, int b) { return likelihood(a) < likelihood(b); });
  }

  // ln of P(correct) times the policy's probability of the step, which is 1 if the policy does not report it.
  double likelihood(int node) const {
    const Node& step = tree_.at(node);
    double sum = step.verdict && step.verdict->probability ? std::log(*step.verdict->probability) : 0;
    for (int i = 0; i < step.said && i < static_cast<int>(step.logprobs.size()); ++i)
      sum += static_cast<double>(step.logprobs[static_cast<std::size_t>(i)]);
    return sum;
  }

  int kept(int node, int attempts) {
    ++answer_.attempts[attempts];
    tree_.note("keep", node, attempts);
    return node;
  }

  std::int64_t again_ = 0;  // tokens of attempts beyond the first at each step
};

}  // namespace

Answer guided(Tree& tree, const MethodOptions& options) { return Guided(tree, options).run(); }

}  // namespace agon::critic
