#include "critic/reward_model/preference_graph.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace agon::critic {
namespace {

using Weights = std::map<std::pair<int, int>, double>;

PreferenceGraph graph_from(int items, const Weights& weights) {
  PreferenceGraph graph{items, {}};
  for (const auto& [pair, weight] : weights) graph.arcs.push_back({pair.first, pair.second, weight});
  return graph;
}

std::size_t index(int item) { return static_cast<std::size_t>(item); }

// The part of a graph that is left while items are taken from it.
class Remainder {
 public:
  explicit Remainder(const PreferenceGraph& graph)
      : arcs_(graph.arcs), items_(index(graph.items)), left_(static_cast<std::size_t>(graph.items)) {
    for (const PreferenceArc& arc : arcs_) {
      change(arc.better, +1, 0, arc.weight);
      change(arc.worse, 0, +1, -arc.weight);
    }
  }

  bool empty() const { return left_ == 0; }
  int sink() const {
    return first([](const Item& item) { return item.out == 0; });
  }
  int source() const {
    return first([](const Item& item) { return item.in == 0; });
  }
  int most_preferred() const {
    int best = -1;
    for (int i = 0; i < static_cast<int>(items_.size()); ++i)
      if (items_[index(i)].here && (best < 0 || items_[index(i)].surplus > items_[index(best)].surplus)) best = i;
    return best;
  }
  void take(int item) {
    items_[index(item)].here = false;
    --left_;
    for (const PreferenceArc& arc : arcs_) {
      if (arc.better == item) change(arc.worse, 0, -1, arc.weight);
      if (arc.worse == item) change(arc.better, -1, 0, -arc.weight);
    }
  }

 private:
  struct Item {
    bool here = true;
    int out = 0, in = 0;  // arcs to and from remaining items
    double surplus = 0;   // outgoing minus incoming weight
  };
  void change(int item, int out, int in, double surplus) {
    items_[index(item)].out += out;
    items_[index(item)].in += in;
    items_[index(item)].surplus += surplus;
  }
  template <typename Test>
  int first(Test test) const {  // -1: none
    for (int i = 0; i < static_cast<int>(items_.size()); ++i)
      if (items_[index(i)].here && test(items_[index(i)])) return i;
    return -1;
  }
  const std::vector<PreferenceArc>& arcs_;
  std::vector<Item> items_;
  std::size_t left_;
};

// The place of every item in the row.
std::vector<int> places_in_row(const PreferenceGraph& graph) {
  std::deque<int> head, tail;
  for (Remainder rest(graph); !rest.empty();) {
    if (const int sink = rest.sink(); sink >= 0) {
      tail.push_front(sink);
      rest.take(sink);
      continue;
    }
    const int source = rest.source(), next = source >= 0 ? source : rest.most_preferred();
    head.push_back(next);
    rest.take(next);
  }
  head.insert(head.end(), tail.begin(), tail.end());
  std::vector<int> places(head.size());
  for (std::size_t i = 0; i < head.size(); ++i) places[index(head[i])] = static_cast<int>(i);
  return places;
}

// The graph without pairs of opposite arcs of equal weight, which go to `removed`.
PreferenceGraph without_even_arcs(const PreferenceGraph& graph, std::vector<PreferenceArc>& removed) {
  Weights weights;
  for (const PreferenceArc& arc : graph.arcs) weights[{arc.better, arc.worse}] = arc.weight;
  PreferenceGraph rest{graph.items, {}};
  for (const PreferenceArc& arc : graph.arcs) {
    const auto back = weights.find({arc.worse, arc.better});
    (back != weights.end() && back->second == arc.weight ? removed : rest.arcs).push_back(arc);
  }
  return rest;
}

}  // namespace

PreferenceGraph graph_of_votes(int items, std::span<const PreferenceVote> votes) {
  Weights sums;  // keys: (smaller item, larger item)
  for (const PreferenceVote& vote : votes) {
    const auto [low, high] = std::minmax(vote.first, vote.second);
    if (low < 0 || high >= items || low == high || !std::isfinite(vote.score))
      throw Error("preferences: a vote of {} between items {} and {} of {}.", vote.score, vote.first, vote.second,
                  items);
    sums[{low, high}] += vote.first == low ? vote.score : -vote.score;
  }
  Weights weights;
  for (const auto& [pair, sum] : sums) {
    if (sum > 0) weights[pair] = sum;
    if (sum < 0) weights[{pair.second, pair.first}] = -sum;
  }
  return graph_from(items, weights);
}

PreferenceGraph union_of(std::span<const PreferenceGraph> judges) {
  Weights weights;
  for (const PreferenceGraph& judge : judges) {
    if (judge.items != judges.front().items)
      throw Error("preferences: one judge ranks {} items, another {}.", judges.front().items, judge.items);
    for (const PreferenceArc& arc : judge.arcs) weights[{arc.better, arc.worse}] += arc.weight;
  }
  return graph_from(judges.empty() ? 0 : judges.front().items, weights);
}

DenoisedGraph remove_cycles(const PreferenceGraph& graph) {
  DenoisedGraph result{{graph.items, {}}, {}};
  const PreferenceGraph rest = without_even_arcs(graph, result.removed);
  const std::vector<int> places = places_in_row(rest);
  for (const PreferenceArc& arc : rest.arcs) {
    const bool forward = places[index(arc.better)] < places[index(arc.worse)];
    (forward ? result.graph.arcs : result.removed).push_back(arc);
  }
  std::ranges::sort(result.removed, {}, [](const PreferenceArc& arc) { return std::pair(arc.better, arc.worse); });
  return result;
}

std::vector<std::vector<int>> descendants(const PreferenceGraph& graph) {
  std::vector<std::vector<int>> worse(index(graph.items)), below(index(graph.items));
  for (const PreferenceArc& arc : graph.arcs) worse[index(arc.better)].push_back(arc.worse);
  for (int root = 0; root < graph.items; ++root) {
    std::vector<bool> seen(worse.size());
    std::vector<int> stack{root};
    seen[index(root)] = true;
    while (!stack.empty()) {
      const int item = stack.back();
      stack.pop_back();
      for (const int next : worse[index(item)]) {
        if (seen[index(next)]) continue;
        seen[index(next)] = true;
        stack.push_back(next);
        below[index(root)].push_back(next);
      }
    }
    std::ranges::sort(below[index(root)]);
  }
  return below;
}

std::vector<int> ranks_within(const PreferenceGraph& graph, std::span<const std::size_t> items) {
  const std::vector<std::vector<int>> below = descendants(graph);
  std::vector<std::size_t> order(items.size());  // items with more descendants first
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t place) { return below[items[place]].size(); });
  std::vector<int> ranks(items.size(), 1);
  for (const std::size_t better : order)
    for (std::size_t worse = 0; worse < items.size(); ++worse)
      if (std::ranges::binary_search(below[items[better]], static_cast<int>(items[worse])))
        ranks[worse] = std::max(ranks[worse], ranks[better] + 1);
  return ranks;
}

std::vector<int> ranking_of(const PreferenceGraph& graph, std::span<const std::string> names) {
  const std::vector<std::vector<int>> below = descendants(graph);
  std::vector<int> better_ones(index(graph.items)), order;
  for (const PreferenceArc& arc : graph.arcs) ++better_ones[index(arc.worse)];
  const auto goes_before = [&](int a, int b) {
    if (below[index(a)].size() != below[index(b)].size()) return below[index(a)].size() > below[index(b)].size();
    return names[index(a)] < names[index(b)];
  };
  std::vector<int> left;
  for (int i = 0; i < graph.items; ++i) left.push_back(i);
  while (!left.empty()) {
    const auto last = std::partition(left.begin(), left.end(), [&](int i) { return better_ones[index(i)] == 0; });
    if (last == left.begin())
      throw Error("preferences: the graph has a cycle, with '{}' on it or behind it.", names[index(left.front())]);
    const auto next = std::min_element(left.begin(), last, goes_before);
    for (const PreferenceArc& arc : graph.arcs)
      if (arc.better == *next) --better_ones[index(arc.worse)];
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

}  // namespace agon::critic
