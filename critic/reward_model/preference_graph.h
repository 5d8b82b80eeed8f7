// critic/reward_model/preference_graph.h - turns the pairwise votes of several judges into one ranking: Preference
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

// At most one arc each way between two items; in order of (better, worse).
struct PreferenceGraph {
  int items = 0;
  std::vector<PreferenceArc> arcs;
};

// One comparison of one judge: by how much it puts `first` before `second`; below 0, behind it; 0 is a tie.
struct PreferenceVote {
  int first = 0, second = 0;
  double score = 0;
};

// Of one judge: w(u, v) = sum of s(u, v) - sum of s(v, u) over its votes; an arc u -> v where that is above 0. Throws
// Error for a vote on an item that there is not, on one item alone, or that is not finite.
PreferenceGraph graph_of_votes(int items, std::span<const PreferenceVote> votes);
// The arcs of all, the weights of equal ones summed; judges that disagree leave an arc each way. Throws Error for
// graphs of different numbers of items.
PreferenceGraph union_of(std::span<const PreferenceGraph> judges);

struct DenoisedGraph {
  PreferenceGraph graph;               // without a cycle
  std::vector<PreferenceArc> removed;  // in order
};
// Eades, Lin and Smyth 1993: items are put in a row - sinks at its end, sources at its head, else at its head the one
// with the most weight out over weight in (of equals the first) - and the arcs against the row are removed. Before that
// two arcs of the same weight each way between two items go both, as votes that cancel out. A graph without cycles
// keeps all its arcs; of what does not cancel out at most half of the weight goes.
DenoisedGraph remove_cycles(const PreferenceGraph& graph);

// Of each item those that it is before, by an arc or through others, in order.
std::vector<std::vector<int>> descendants(const PreferenceGraph& graph);

// Ranks of some items of a graph without cycles: one more than the highest rank of those among them that are before it,
// directly or through items that are not among them; 1 where there is none. Items with no path between them may have
// the same rank.
std::vector<int> ranks_within(const PreferenceGraph& graph, std::span<const std::size_t> items);

// The items, best first: whoever is before another by an arc stands before it; of those that may stand next the one
// with the most descendants, then the one of the smallest name. Throws Error for a graph with a cycle, naming an item
// on it.
std::vector<int> ranking_of(const PreferenceGraph& graph, std::span<const std::string> names);

}  // namespace agon::critic
