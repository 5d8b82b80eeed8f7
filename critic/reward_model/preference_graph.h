// critic/reward_model/preference_graph.h - turns the pairwise votes of several judges into one ranking, by Preference
// Graph Ensemble and Denoising (Hu et al. 2024, arXiv 2410.12869). Pure functions; items are 0 .. items - 1.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace agon::critic {

struct PreferenceArc {
  int better = 0, worse = 0;
  double weight = 0;  // above 0
  bool operator==(const PreferenceArc&) const = default;
};

// Arcs in order of (better, worse), at most one in each direction between two items.
struct PreferenceGraph {
  int items = 0;
  std::vector<PreferenceArc> arcs;
};

// One judge's comparison of two items. score: how much it prefers `first` to `second`; negative: it prefers `second`;
// 0: a tie.
struct PreferenceVote {
  int first = 0, second = 0;
  double score = 0;
};

// The graph of one judge: w(u, v) = sum of s(u, v) - sum of s(v, u) over its votes, and an arc u -> v where
// w(u, v) > 0. Throws Error for a vote on an unknown item, a vote that compares an item with itself, and a score that
// is not finite.
PreferenceGraph graph_of_votes(int items, std::span<const PreferenceVote> votes);
// The arcs of all judges, with the weights of equal arcs summed. If judges disagree on two items, arcs in both
// directions remain. Throws Error for graphs of different numbers of items.
PreferenceGraph union_of(std::span<const PreferenceGraph> judges);

struct DenoisedGraph {
  PreferenceGraph graph;               // without a cycle
  std::vector<PreferenceArc> removed;  // in order
};
// Removes cycles as in Eades, Lin and Smyth 1993: puts the items in a row and removes the arcs that point backwards.
// The row fills from both ends: sinks go to the back, sources to the front; if there are neither, the item with the
// largest outgoing minus incoming weight goes to the front (ties: the first item). Before that, two opposite arcs of
// the same weight are both removed, as votes that cancel out. A graph without cycles keeps all its arcs; any other
// graph loses at most half of the weight that remains after the opposite arcs are removed.
DenoisedGraph remove_cycles(const PreferenceGraph& graph);

// For each item the items that it precedes, directly or through other items, in order.
std::vector<std::vector<int>> descendants(const PreferenceGraph& graph);

// Ranks of some items of a graph without cycles. The rank of an item is 1 plus the highest rank of the given items that
// precede it, directly or through other items; without such an item it is 1. Items with no path between them may have
// the same rank.
std::vector<int> ranks_within(const PreferenceGraph& graph, std::span<const std::size_t> items);

// The items in topological order, best first. Of the items that may come next, the one with the most descendants comes
// first; ties: the smallest name. Throws Error for a graph with a cycle, naming an item on the cycle or behind it.
std::vector<int> ranking_of(const PreferenceGraph& graph, std::span<const std::string> names);

}  // namespace agon::critic
