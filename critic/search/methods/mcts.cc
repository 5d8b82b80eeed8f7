#include "critic/search/methods/searcher.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/text.h"

namespace agon::critic {
namespace {

// The statistics of a node.
struct Visits {
  double count = 0, ranks = 0, sum = 0;  // visits; visits with a rank, and the sum of the ranks
  double prior = 1;
  std::vector<int> children;
  bool expanded = false;
};

class TreeSearch : public Searcher {
 public:
  using Searcher::Searcher;

  Answer run() {
    const int root = tree_.add_root();
    for (int i = 0; i < options_.n && account_.may_write() && (i == 0 || account_.may_judge()); ++i) {
      int node = root;
      while (account_.may_write() && !is_end(node)) {
        if (!visits_[node].expanded) grow(node);
        if (visits_[node].children.empty()) break;
        node = promising_child(node);
      }
      if (is_end(node) && !tree_.at(node).is_root()) add_visit(node, rank_of(tree_, node, options_.rank));
    }
    return first_ranked();
  }

 private:
  // Whether the trajectory cannot continue after the node. Plays the turn that ends at the node, if it is not played.
  bool is_end(int node) {
    if (tree_.at(node).is_root()) return tree_.at(node).full;
    if (tree_.at(node).ends_turn && !tree_.at(node).end) go_on({node});
    return tree_.at(node).is_over() || (tree_.at(node).ends_turn && !tree_.at(node).end);
  }

  void grow(int node) {
    const int width = account_.may_judge() ? options_.width : 1;
    const std::vector<int> written = tree_.expand(std::array{node}, width).front();
    end_full({node});
    tree_.judge(written);
    Visits& parent = visits_[node];
    parent.expanded = true;
    parent.children = without_twins(written);
    const std::vector<int> children = parent.children;
    for (const int child : children) {
      const auto twins = std::count_if(written.begin(), written.end(), [&](int other) {
        return trim(tree_.at(other).text) == trim(tree_.at(child).text);
      });
      visits_[child].prior = static_cast<double>(twins) / static_cast<double>(written.size());
      add_visit(child, rank_of(tree_, child, options_.rank));
    }
  }

  // A visit without a rank counts as a visit, but does not change the mean rank of the nodes above.
  void add_visit(int node, std::optional<double> rank) {
    for (;; node = tree_.at(node).parent) {
      Visits& visits = visits_[node];
      ++visits.count;
      visits.ranks += rank.has_value();
      visits.sum += rank.value_or(0);
      if (tree_.at(node).is_root()) return;
    }
  }

  int promising_child(int node) {
    const Visits& parent = visits_.at(node);
    const double below = parent.ranks > 0 ? parent.sum / parent.ranks : 0;
    const auto promise = [&](int child) {
      const Visits& visits = visits_.at(child);
      const double mean = visits.ranks > 0 ? visits.sum / visits.ranks : below;
      return mean + kExploration * visits.prior * std::sqrt(parent.count) / (1 + visits.count);
    };
    return *std::max_element(parent.children.begin(), parent.children.end(),
                             [&](int a, int b) { return promise(a) < promise(b); });
  }

  std::map<int, Visits> visits_;
};

}  // namespace

Answer mcts(Tree& tree, const MethodOptions& options) { return TreeSearch(tree, options).run(); }

}  // namespace agon::critic
