#include "critic/reward_model/preference_graph.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
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

// What is left of a graph while items are taken out of it.
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
    int out = 0, in = 0;  // arcs to and from those that are here
    double surplus = 0;   // weight out over weight in
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

// How many items each one is before, directly or through others.
std::vector<int> descendants(const PreferenceGraph& graph) {
  std::vector<std::vector<int>> worse(index(graph.items));
  for (const PreferenceArc& arc : graph.arcs) worse[index(arc.better)].push_back(arc.worse);
  std::vector<int> counts;
  for (int root = 0; root < graph.items; ++root) {
    std::vector<bool> seen(worse.size());
    std::vector<int> stack{root};
    int count = -1;  // itself
    seen[index(root)] = true;
    while (!stack.empty()) {
      const int item = stack.back();
      stack.pop_back();
      ++count;
      for (const int next : worse[index(item)])
        if (!seen[index(next)]) {
          seen[index(next)] = true;
          stack.push_back(next);
        }
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

PreferenceGraph graph_of_votes(int items, std::span<const PreferenceVote> votes) {
  Weights sums;  // of (smaller, larger)
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
  const std::vector<int> places = places_in_row(graph);
  DenoisedGraph result{{graph.items, {}}, {}};
  for (const PreferenceArc& arc : graph.arcs) {
    const bool forward = places[index(arc.better)] < places[index(arc.worse)];
    (forward ? result.graph.arcs : result.removed).push_back(arc);
  }
  return result;
}

std::vector<int> ranking_of(const PreferenceGraph& graph, std::span<const std::string> names) {
  const std::vector<int> below = descendants(graph);
  std::vector<int> better_ones(index(graph.items)), order;
  for (const PreferenceArc& arc : graph.arcs) ++better_ones[index(arc.worse)];
  const auto goes_before = [&](int a, int b) {
    if (below[index(a)] != below[index(b)]) return below[index(a)] > below[index(b)];
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
