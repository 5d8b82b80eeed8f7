// critic/search/methods/searcher.h - Searcher, the base class of the search methods (critic/search/method.h describes
// each method). A method derives from Searcher and ends with first_done, first_ranked or by_vote.
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

// The lists joined in order.
std::vector<int> flat(const std::vector<std::vector<int>>& lists);

class Searcher {
 public:
  // Both must outlive the searcher.
  Searcher(Tree& tree, const MethodOptions& options) : tree_(tree), account_(tree.account()), options_(options) {}

 protected:
  // Plays the turns that end at the nodes. Finished trajectories go to done_; the other nodes are returned.
  std::vector<int> go_on(const std::vector<int>& nodes);
  // Ends the trajectories whose context is full: they go to done_.
  void end_full(const std::vector<int>& nodes);
  bool is_done(int node) const;
  // The nodes by rank, best first; equal ones keep their order.
  std::vector<int> ranked(std::vector<int> nodes, Rank rank) const;
  // The nodes that are not cut; of siblings with the same text, only the first.
  std::vector<int> without_twins(const std::vector<int>& nodes) const;
  void count_unranked();  // in done_

  // The answer from done_; if done_ is empty, from a turn that is complete but not played yet.
  Answer first_done();
  Answer first_ranked();
  // The answer with the most weight, over trajectories with an answer and a weight; if there are none, the first in
  // done_.
  Answer by_vote(const std::function<std::optional<double>(int)>& weight);

  void play_spare();  // while done_ is empty, plays the complete turns that are not played yet, best-ranked first

  Tree& tree_;
  const Account& account_;  // the tree's
  const MethodOptions& options_;
  Answer answer_;
  std::vector<int> done_;  // finished trajectories
};

}  // namespace agon::critic
