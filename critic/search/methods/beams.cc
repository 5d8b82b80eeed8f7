#include "critic/search/methods/searcher.h"

#include <algorithm>
#include <iterator>

namespace agon::critic {
namespace {

class Beams : public Searcher {
 public:
  using Searcher::Searcher;

  Answer beam() {
    std::vector<int> beams = {tree_.add_root()};
    const auto places = static_cast<std::size_t>(options_.n);
    while (!beams.empty()) {
      keep_one_without_critic(beams);
      // n x width candidates are shared out, so that a beam that has thinned loses no width.
      const int each =
          account_.may_judge() ? std::max(1, options_.n * options_.width / static_cast<int>(beams.size())) : 1;
      std::vector<int> next = without_twins(flat(tree_.expand(beams, each)));
      end_full(beams);
      tree_.judge(next);
      next = ranked(std::move(next), options_.rank);
      prune(next, places - std::min(places, done_.size()));
      const std::vector<int> before = std::move(beams);
      beams = go_on(next);
      release_turns(before, beams);
    }
    play_spare();
    return first_ranked();
  }

  Answer diverse_beam() {
    const int root = tree_.add_root();
    std::vector<int> lines(static_cast<std::size_t>(options_.n), root);
    while (!lines.empty()) {
      if (!account_.may_judge()) lines = ranked(std::move(lines), options_.rank);
      keep_one_without_critic(lines);
      const std::vector<std::vector<int>> written = tree_.expand(lines, account_.may_judge() ? options_.width : 1);
      end_full(lines);
      tree_.judge(flat(written));
      std::vector<int> best;
      for (const std::vector<int>& candidates : written) {
        std::vector<int> in_order = ranked(without_twins(candidates), options_.rank);
        prune(in_order, 1);
        best.insert(best.end(), in_order.begin(), in_order.end());
      }
      lines = go_on(best);
    }
    play_spare();
    return first_ranked();
  }

 private:
  // Lines in the order of their rank. No verdict throws away those that go.
  void keep_one_without_critic(std::vector<int>& lines) {
    if (!account_.may_judge()) keep_first(lines, 1);
  }

  // Keeps the first `places` nodes; their ranks throw away the others.
  void prune(std::vector<int>& nodes, std::size_t places) { answer_.rejected += keep_first(nodes, places); }

  // Lets go of all but the first `places` nodes; returns how many.
  int keep_first(std::vector<int>& nodes, std::size_t places) {
    if (nodes.size() <= places) return 0;
    const auto gone = nodes.begin() + static_cast<std::ptrdiff_t>(places);
    const auto count = static_cast<int>(nodes.end() - gone);
    std::for_each(gone, nodes.end(), [&](int node) { tree_.note("prune", node); });
    std::copy_if(gone, nodes.end(), std::back_inserter(spare_), [&](int node) { return tree_.at(node).ends_turn; });
    nodes.erase(gone, nodes.end());
    return count;
  }

  // In a beam nothing returns to a turn that no beam is in any more.
  void release_turns(const std::vector<int>& before, const std::vector<int>& beams) {
    for (const int node : before) {
      const bool used =
          std::any_of(beams.begin(), beams.end(), [&](int beam) { return tree_.at(beam).turn == tree_.at(node).turn; });
      if (!used) tree_.release(node);
    }
  }

  // Where nothing has got to its end, a whole turn that was pruned is better than no answer.
  void play_spare() {
    for (const int node : ranked(spare_, options_.rank))
      if (done_.empty() && !tree_.at(node).end) go_on({node});
  }

  std::vector<int> spare_;  // pruned, and they end a turn
};

}  // namespace

Answer beam(Tree& tree, const MethodOptions& options) { return Beams(tree, options).beam(); }
Answer diverse_beam(Tree& tree, const MethodOptions& options) { return Beams(tree, options).diverse_beam(); }

}  // namespace agon::critic
