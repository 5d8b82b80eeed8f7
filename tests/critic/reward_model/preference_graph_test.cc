#include "critic/reward_model/preference_graph.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "core/error.h"
#include "core/json.h"
#include "core/rng.h"
#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

PreferenceGraph random_graph(Rng& rng) {
  PreferenceGraph graph{rng.between(1, 12), {}};
  for (int u = 0; u < graph.items; ++u)
    for (int v = 0; v < graph.items; ++v)
      if (u != v && rng.chance(0.3)) graph.arcs.push_back({u, v, rng.uniform() + 0.01});
  return graph;
}

std::vector<std::string> names_of(int items) {
  std::vector<std::string> names;
  for (int i = 0; i < items; ++i) names.push_back(std::string(1, static_cast<char>('a' + i)));
  return names;
}

double weight_of(const std::vector<PreferenceArc>& arcs) {
  return std::accumulate(arcs.begin(), arcs.end(), 0.0,
                         [](double sum, const PreferenceArc& arc) { return sum + arc.weight; });
}

// The least weight that has to be removed, found by trying all orders of up to eight items.
double least_removed(const PreferenceGraph& graph) {
  std::vector<int> places(static_cast<std::size_t>(graph.items));
  std::iota(places.begin(), places.end(), 0);
  double least = weight_of(graph.arcs);
  do {
    double removed = 0;
    for (const PreferenceArc& arc : graph.arcs)
      if (places[static_cast<std::size_t>(arc.better)] > places[static_cast<std::size_t>(arc.worse)])
        removed += arc.weight;
    least = std::min(least, removed);
  } while (std::next_permutation(places.begin(), places.end()));
  return least;
}

}  // namespace

TEST_CASE("preference graph: one judge's votes are summed over both orders") {
  const std::vector<PreferenceVote> votes = {{0, 1, 1}, {1, 0, 1}, {0, 2, 1}, {2, 0, -1}, {1, 2, 0}, {2, 1, 0.5}};
  const PreferenceGraph graph = graph_of_votes(3, votes);
  CHECK(graph.arcs == std::vector<PreferenceArc>{{0, 2, 2}, {2, 1, 0.5}});  // 0 and 1 are a tie
  CHECK_THROWS_WITH(graph_of_votes(2, std::vector<PreferenceVote>{{0, 2, 1}}), Contains("items 0 and 2 of 2"));
  CHECK_THROWS_WITH(graph_of_votes(2, std::vector<PreferenceVote>{{1, 1, 1}}), Contains("items 1 and 1"));
}

TEST_CASE("preference graph: judges that disagree leave an arc each way") {
  const std::vector<PreferenceGraph> judges = {{2, {{0, 1, 2}}}, {2, {{1, 0, 1}}}, {2, {{0, 1, 1}}}};
  const PreferenceGraph all = union_of(judges);
  CHECK(all.arcs == std::vector<PreferenceArc>{{0, 1, 3}, {1, 0, 1}});
  const DenoisedGraph denoised = remove_cycles(all);
  CHECK(denoised.graph.arcs == std::vector<PreferenceArc>{{0, 1, 3}});
  CHECK(denoised.removed == std::vector<PreferenceArc>{{1, 0, 1}});
  CHECK_THROWS_AS(union_of(std::vector<PreferenceGraph>{{2, {}}, {3, {}}}), Error);
}

TEST_CASE("preference graph: arcs of equal weight each way cancel out, whichever item comes first") {
  for (const bool turned : {false, true}) {
    const int a = turned ? 1 : 0, b = turned ? 0 : 1;
    PreferenceGraph graph{3, {{a, b, 2}, {b, a, 2}, {a, 2, 1}}};
    const DenoisedGraph denoised = remove_cycles(graph);
    CHECK(denoised.removed == std::vector<PreferenceArc>{{0, 1, 2}, {1, 0, 2}});
    CHECK(denoised.graph.arcs == std::vector<PreferenceArc>{{a, 2, 1}});
  }
}

TEST_CASE("preference graph: ranks are the longest path among the items, and no path means no order") {
  const PreferenceGraph graph{6, {{4, 1, 1}, {1, 3, 1}, {4, 0, 1}, {3, 2, 1}}};  // 5 has no arcs
  CHECK(ranks_within(graph, std::vector<std::size_t>{0, 1, 2, 3, 4, 5}) == std::vector<int>{2, 2, 4, 3, 1, 1});
  CHECK(ranks_within(graph, std::vector<std::size_t>{0, 2, 4}) == std::vector<int>{2, 2, 1});  // by the path 4, 1, 3, 2
  CHECK(ranks_within(graph, std::vector<std::size_t>{0, 5}) == std::vector<int>{1, 1});
  CHECK(descendants(graph).at(4) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("preference graph: one big cycle loses its lightest arc") {
  PreferenceGraph cycle{6, {}};
  for (int i = 0; i < 6; ++i) cycle.arcs.push_back({i, (i + 1) % 6, i == 3 ? 0.5 : 1});
  const DenoisedGraph denoised = remove_cycles(cycle);
  CHECK(denoised.removed == std::vector<PreferenceArc>{{3, 4, 0.5}});
  CHECK(ranking_of(denoised.graph, names_of(6)) == std::vector<int>{4, 5, 0, 1, 2, 3});
  CHECK_THROWS_WITH(ranking_of(cycle, names_of(6)), Contains("cycle"));
}

TEST_CASE("preference graph: on random graphs cycles go, little else does, and the ranking obeys every arc") {
  Rng rng(7);
  double removed = 0, least = 0;
  for (int round = 0; round < 400; ++round) {
    const PreferenceGraph graph = random_graph(rng);
    const DenoisedGraph denoised = remove_cycles(graph);
    CHECK(denoised.graph.arcs.size() + denoised.removed.size() == graph.arcs.size());
    CHECK(weight_of(denoised.removed) <= weight_of(graph.arcs) / 2 + 1e-9);
    const DenoisedGraph again = remove_cycles(denoised.graph);
    CHECK(again.removed.empty());
    const std::vector<int> order = ranking_of(denoised.graph, names_of(graph.items));
    REQUIRE(order.size() == static_cast<std::size_t>(graph.items));
    for (const PreferenceArc& arc : denoised.graph.arcs)
      CHECK(std::find(order.begin(), order.end(), arc.better) < std::find(order.begin(), order.end(), arc.worse));
    if (graph.items > 7) continue;
    removed += weight_of(denoised.removed);
    least += least_removed(graph);
    CHECK(weight_of(denoised.removed) >= least_removed(graph) - 1e-9);
  }
  CHECK(removed < 1.3 * least);  // the heuristic is near the optimum
}

TEST_CASE("preference graph: what is removed equals igraph's on its golden graphs") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("ranking/graphs.json")));
  REQUIRE(golden.at("graphs").size() >= 20);
  for (const Json& one : golden.at("graphs")) {
    PreferenceGraph graph{one.at("items"), {}};
    for (const Json& arc : one.at("arcs")) graph.arcs.push_back({arc[0], arc[1], arc[2]});
    std::vector<PreferenceArc> removed;
    for (const std::size_t place : one.at("removed").get<std::vector<std::size_t>>())
      removed.push_back(graph.arcs.at(place));
    CHECK(remove_cycles(graph).removed == removed);
  }
}

TEST_CASE("preference graph: of those that may stand next the one with more below it goes first, then the name") {
  // a and b have no predecessor; b is before two others, a before one.
  const PreferenceGraph graph{5, {{0, 2, 1}, {1, 3, 1}, {3, 4, 1}}};
  CHECK(ranking_of(graph, names_of(5)) == std::vector<int>{1, 0, 3, 2, 4});
  CHECK(ranking_of({3, {}}, std::vector<std::string>{"c", "a", "b"}) == std::vector<int>{1, 2, 0});
}
