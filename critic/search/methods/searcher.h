// critic/search/methods/searcher.h - what the search methods share. critic/search/method.h says what each method does.
// A method is a class that derives from Searcher and ends with first_done, first_ranked or by_vote.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "critic/search/method.h"
#include "critic/search/tree.h"

namespace agon::critic {

Answer greedy(Tree& tree, const MethodOptions& options);
Answer best_of_n(Tree& tree, const MethodOptions& options);
Answer majority(Tree& tree, const MethodOptions& options);
Answer weighted_majority(Tree& tree, const MethodOptions& options);
Answer guided(Tree& tree, const MethodOptions& options);
Answer beam(Tree& tree, const MethodOptions& options);
Answer diverse_beam(Tree& tree, const MethodOptions& options);
Answer mcts(Tree& tree, const MethodOptions& options);
Answer particles(Tree& tree, const MethodOptions& options);

// All of the lists, one behind the other.
std::vector<int> flat(const std::vector<std::vector<int>>& lists);

class Searcher {
 public:
  // Both must outlive it.
  Searcher(Tree& tree, const MethodOptions& options) : tree_(tree), account_(tree.account()), options_(options) {}

 protected:
  // Plays the turns that the nodes end. Those that are over are done; the others are returned.
  std::vector<int> go_on(const std::vector<int>& nodes);
  // Those whose context is full are done where they stand.
  void end_full(const std::vector<int>& nodes);
  bool is_done(int node) const;
  // The nodes, those that rank first before the others; of equal ones in their order.
  std::vector<int> ranked(std::vector<int> nodes, Rank rank) const;
  // Of siblings that say the same, the first; none that are cut.
  std::vector<int> without_twins(const std::vector<int>& nodes) const;
  void count_unranked();  // of those that are done

  // The answer, of the trajectories that are done; where none is, of a whole turn that is written.
  Answer first_done();
  Answer first_ranked();
  // Of those with an answer and a weight what most weight is for; without any, the first that is done.
  Answer by_vote(const std::function<std::optional<double>(int)>& weight);

  void play_spare();  // where nothing is done, of the whole turns that are not played those that rank first

  Tree& tree_;
  const Account& account_;  // the tree's
  const MethodOptions& options_;
  Answer answer_;
  std::vector<int> done_;  // trajectories at their end
};

}  // namespace agon::critic
