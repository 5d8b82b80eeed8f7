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
      // The beams share n x width candidates: if fewer than n are left, each one gets more.
      const int each =
          account_.may_judge() ? std::max(1, options_.n * options_.width / static_cast<int>(beams.size())) : 1;
      std::vector<int> next = without_twins(flat(tree_.expand(beams, each)));
      end_full(beams);
      tree_.judge(next);
      next = ranked(std::move(next), options_.rank);
      prune(next, places - std::min(places, done_.size()));
      const std::vector<int> before = std::move(beams);
      beams = go_on(next);
      if (!beams.empty()) release_turns(before, beams);
    }
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
    return first_ranked();
  }

 private:
  // lines: ordered by rank. The dropped lines do not count as rejected, since no verdict rejected them.
  void keep_one_without_critic(std::vector<int>& lines) {
    if (!account_.may_judge()) keep_first(lines, 1);
  }

  // Keeps the first `places` candidates; the others count as rejected if they have a verdict.
  void prune(std::vector<int>& nodes, std::size_t places) {
    for (std::size_t i = places; i < nodes.size(); ++i) answer_.rejected += tree_.at(nodes[i]).verdict.has_value();
    keep_first(nodes, places);
  }

  void keep_first(std::vector<int>& nodes, std::size_t places) {
    for (std::size_t i = places; i < nodes.size(); ++i) tree_.note("prune", nodes[i]);
    nodes.resize(std::min(nodes.size(), places));
  }

  // A beam search never returns to a turn that all beams have left.
  void release_turns(const std::vector<int>& before, const std::vector<int>& beams) {
    for (const int node : before) {
      const bool used =
          std::any_of(beams.begin(), beams.end(), [&](int beam) { return tree_.at(beam).turn == tree_.at(node).turn; });
      if (!used) tree_.release(node);
    }
  }
};

}  // namespace

Answer beam(Tree& tree, const MethodOptions& options) { return Beams(tree, options).beam(); }
Answer diverse_beam(Tree& tree, const MethodOptions& options) { return Beams(tree, options).diverse_beam(); }

}  // namespace agon::critic
