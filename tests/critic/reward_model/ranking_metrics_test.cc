#include "critic/reward_model/ranking_metrics.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/text.h"
#include "paths.h"

using namespace agon;
using namespace agon::critic;

TEST_CASE("ranking metrics: the highest score is right or wrong, among several by chance") {
  CHECK(best_of_n({"", {2, 1, 3}, {0, 5, 1}}) == 1);
  CHECK(best_of_n({"", {2, 1, 3}, {9, 5, 1}}) == 0);
  CHECK(best_of_n({"", {1, 1, 2}, {1, 0, 0}}) == 1);
  CHECK(best_of_n({"", {1, 2, 3, 4}, {2, 2, 2, 2}}) == 0.25);
}

TEST_CASE("ranking metrics: a tie of scores is a pair that is wrong, a tie of ranks is none") {
  CHECK(pairwise_accuracy({"", {1, 2, 3}, {3, 2, 1}}) == 1);
  CHECK(pairwise_accuracy({"", {1, 2, 3}, {3, 3, 1}}) == Approx(2.0 / 3));
  CHECK(pairwise_accuracy({"", {1, 1, 2}, {0, 7, 0}}) == Approx(0.5));
  CHECK(std::isnan(pairwise_accuracy({"", {1, 1}, {0, 7}})));
}

TEST_CASE("ranking metrics: Kendall's tau-b equals scipy's on its golden sets") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("ranking/kendall.json")));
  REQUIRE(golden.at("sets").size() >= 30);
  for (const Json& one : golden.at("sets")) {
    const ScoredSet set{"", one.at("rank"), one.at("scores")};
    if (one.at("tau").is_number()) CHECK(kendall_tau(set) == Approx(one["tau"].get<double>()).margin(1e-12));
  }
  CHECK(kendall_tau({"", {1, 2, 3}, {4, 4, 4}}) == 0);
  CHECK(std::isnan(kendall_tau({"", {1, 1}, {0, 7}})));
}

TEST_CASE("ranking metrics: tau is 2 pairwise - 1 without ties (YOJO, Table 10)") {
  const ScoredSet set{"", {1, 2, 3, 4}, {0.3, 0.9, 0.1, 0.2}};
  CHECK(kendall_tau(set) == Approx(2 * pairwise_accuracy(set) - 1));
}

TEST_CASE("ranking metrics: macro is the mean of the categories") {
  const std::vector<ScoredSet> sets = {
      {"a", {1, 2}, {1, 0}}, {"a", {1, 2}, {1, 0}}, {"a", {1, 2}, {0, 1}}, {"b", {1, 2}, {0, 1}}};
  const Json figures = ranking_json(sets);
  CHECK(figures.at("n") == 4);
  CHECK(figures.at("best_of_n") == 0.5);
  CHECK(figures.at("macro").get<double>() == Approx((2.0 / 3 + 0) / 2));
  CHECK(figures.at("by_category").at("a").at("n") == 3);
  CHECK(figures.at("ci").at(0) <= 0.5);
  CHECK(figures.at("ci").at(1) >= 0.5);
}

// The tables print averages of their rows; each is the plain mean (reference vectors, section 7).
TEST_CASE("ranking metrics: the averages of YOJO's tables") {
  struct Row {
    std::vector<double> cells;
    double printed;
  };
  const std::vector<Row> rows = {
      {{82.2, 73.2, 92.4, 62.5, 66.3, 50.7}, 71.2}, {{63.3, 71.2, 84.7, 58.8, 64.9, 47.5}, 65.1},  // Table 1
      {{62.1, 73.8, 88.8, 52.5, 64.3, 47.1}, 64.8}, {{57.7, 61.9, 64.7, 41.2, 60.8, 37.6}, 54.0},  // Table 2
      {{63.6, 71.2, 84.7, 58.8, 64.9, 47.5}, 65.1}, {{67.4, 73.5, 88.8, 49.6, 58.1, 40.6}, 63.0},
      {{59.6, 72.5, 91.2, 42.5, 66.7, 46.9}, 63.2}, {{61.5, 74.5, 88.8, 47.1, 65.7, 46.5}, 64.0},  // Table 5
      {{60.4, 74.2, 91.8, 43.3, 65.4, 47.5}, 63.8}, {{69.1, 70.3, 73.5, 47.1, 54.9, 47.9}, 60.5},
      {{62.0, 73.8, 88.2, 51.2, 63.7, 45.2}, 64.0}, {{57.7, 73.3, 89.4, 49.2, 64.5, 46.5}, 63.4},
      {{61.7, 74.1, 88.2, 50.0, 64.4, 41.2}, 63.3}, {{61.0, 74.3, 88.8, 45.8, 64.2, 42.0}, 62.7},
      {{60.8, 71.9, 89.4, 49.6, 68.8, 47.1}, 64.6}, {{55.9, 72.3, 88.2, 51.7, 67.5, 47.3}, 63.8},
      {{56.9, 67.8, 66.4, 60.4, 80.1}, 66.3},       {{57.9, 66.8, 62.9, 51.4, 85.8}, 64.9},  // Table 8, macro
      {{51.1, 72.1, 53.8, 55.3, 82.1}, 62.9},       {{54.0, 71.0, 57.1, 50.7, 52.7}, 57.1}};
  for (const Row& row : rows) {
    // Each cell becomes a category of a thousand sets, of which that share is ranked right.
    std::vector<ScoredSet> sets;
    for (std::size_t cell = 0; cell < row.cells.size(); ++cell)
      for (int i = 0; i < 1000; ++i)
        sets.push_back({std::to_string(cell), {1, 2}, {i < std::lround(row.cells[cell] * 10) ? 1.0 : 0.0, 0.5}});
    const double macro = ranking_json(sets).at("macro");
    CHECK(100 * macro == Approx(row.printed).margin(0.061));  // cells and averages are rounded
  }
}
