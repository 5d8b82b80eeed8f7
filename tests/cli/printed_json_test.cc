#include "cli/printed_json.h"

#include <catch2/catch.hpp>

using namespace agon;
using namespace agon::cli;

TEST_CASE("printed JSON: the figures of a run that an earlier agon stored, without a number of tasks") {
  const Json stored{{"tokens", 7},
                    {"score", {{"auc", nullptr}, {"ap", 1.0}}},
                    {"ci", {{"score_ap", {0.5, 1.0}}, {"greedy", {0.0, 0.5}}}},
                    {"verifier", "models/judge"}};
  CHECK(printed_figures(stored).dump() ==
        R"({"policy_tokens":7,"score":{"auc":null,"average_precision":1.0},)"
        R"("ci":{"score_average_precision":[0.5,1.0],"greedy":[0.0,0.5]},"reward_model":"models/judge"})");
}

TEST_CASE("printed JSON: an estimate has its interval and its count under its own name, and none if it is undefined") {
  Json stored{{"tasks", 4},
              {"accuracy", 0.5},
              {"ci", {{"accuracy", {0.25, 0.75}}}},
              {"wall_seconds", 1.5},
              {"by_level", {{"2", {{"tasks", 0}, {"accuracy", nullptr}, {"ci", {nullptr, nullptr}}}}}}};
  const Json printed = printed_search(stored);
  CHECK(printed["ci"] == Json{{"accuracy", {0.25, 0.75}}});
  CHECK(printed["n"] == Json{{"accuracy", 4}});
  CHECK(printed["by_level"]["2"].dump() == R"({"tasks":0,"accuracy":null,"ci":{},"n":{}})");
  CHECK((printed["seconds"] == 1.5 && !printed.contains("wall_seconds")));

  const Json ranking{{"best_of_n", 0.5}, {"n", 3}, {"by_category", {{"bars", {{"n", 3}}}}}, {"ci", {0.25, 0.75}}};
  CHECK(printed_ranking(ranking).dump() ==
        R"({"best_of_n":0.5,"sets":3,"by_category":{"bars":{"sets":3}},"ci":{"best_of_n":[0.25,0.75]},)"
        R"("n":{"best_of_n":3}})");
}

TEST_CASE("printed JSON: what is stored in no summary stays null") {
  CHECK(printed_preferences(nullptr).is_null());
  CHECK(printed_notes({{"held_out", nullptr}, {"passed_over", 2}}).dump() == R"({"held_out":null,"without_order":2})");
}

TEST_CASE("printed JSON: the provenance of a run names its reward model as that of a training run does") {
  const Json stored{{"run", "runs/a"}, {"made_by", {{"verifier", {{"path", "/m"}}}}}};
  CHECK(printed_provenance(stored).dump() == R"({"run":"runs/a","made_by":{"reward_model":{"path":"/m"}}})");
  CHECK(printed_provenance(Json::object()) == Json::object());
}
