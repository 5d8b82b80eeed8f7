#include "agents/run_summary.h"
#include "agents/run_summary_table.h"

#include <catch2/catch.hpp>
#include <cmath>

#include <fmt/format.h>

#include "core/rng.h"

using namespace agon;
using agents::EpisodeOutcome;
using agents::outcome_of;
using agents::summarize;

namespace {

const Json kConfig = {{"suite", "charts"}, {"split", "test"}, {"level", 2}, {"seed", 7}};

EpisodeOutcome outcome(std::uint64_t task, int sample, bool success, std::optional<double> score = std::nullopt,
                       std::optional<std::string> answer = std::nullopt) {
  EpisodeOutcome one;
  one.task_index = task;
  one.sample = sample;
  one.success = success;
  one.reward = success ? 1.5 : 0.25;
  one.score = score;
  one.answer = std::move(answer);
  one.tokens = 10;
  return one;
}

EpisodeOutcome failed(std::uint64_t task, int sample) {
  EpisodeOutcome one = outcome(task, sample, false);
  one.failed = true;
  return one;
}

}  // namespace

TEST_CASE("an episode gives its outcome: tokens and labelled steps of all turns, a box only where the gold is one") {
  record::Episode episode;
  episode.task_index = 4;
  episode.sample = 2;
  episode.gold = {10, 20, 30, 40};
  episode.answer = "[11, 20, 30, 41]";
  episode.turns.resize(4);
  episode.turns[0].token_ids = {1, 2, 3};
  episode.turns[0].facts.step_correct = true;
  episode.turns[1].token_ids = {4};
  episode.turns[1].facts.step_correct = false;
  episode.turns[2].facts.refused = "no such button";
  EpisodeOutcome one = outcome_of(episode);
  REQUIRE((one.tokens == 4 && one.steps == 2 && one.right_steps == 1 && one.answer_is_box && !one.failed));
  episode.gold = "7";
  REQUIRE_FALSE(outcome_of(episode).answer_is_box);
  episode.gold = {"CLICK", "b", "c", "d"};
  REQUIRE_FALSE(outcome_of(episode).answer_is_box);
  episode.gold = "[1, 2, 3, 4]";
  REQUIRE(outcome_of(episode).answer_is_box);
  episode.answer = "on the left";
  REQUIRE_FALSE(outcome_of(episode).answer_is_box);
  episode.status = record::EpisodeStatus::failed;
  REQUIRE(outcome_of(episode).failed);
}

TEST_CASE("the figures of a run, computed by hand") {
  const std::vector<EpisodeOutcome> outcomes{outcome(0, -1, true, 0.9, "7"), outcome(0, 0, false, 0.2, "5"),
                                             outcome(0, 1, true, 0.9, "7"),  outcome(0, 2, true, 0.8, "7.0"),
                                             outcome(0, 3, false, 0.1, "5"), outcome(1, -1, false, 0.9, "1"),
                                             outcome(1, 0, false, 0.7, "1"), outcome(1, 1, false, 0.3, "2"),
                                             outcome(1, 2, true, 0.6, "3"),  outcome(1, 3, false, 0.5, "1")};
  const Json summary = summarize(kConfig, outcomes, 2.5);
  REQUIRE((summary["suite"] == "charts" && summary["split"] == "test" && summary["level"] == 2));
  REQUIRE((summary["tasks"] == 2 && summary["samples"] == 4));
  REQUIRE((summary["tokens"] == 100 && summary["seconds"] == 2.5 && summary["failed"] == 0));
  REQUIRE(summary["greedy"] == 0.5);
  REQUIRE(summary["pass_at_1"].get<double>() == Approx((0.5 + 0.25) / 2));
  REQUIRE(summary["pass_at_k"]["1"] == summary["pass_at_1"]);
  REQUIRE(summary["pass_at_k"]["2"].get<double>() == Approx(((1 - 1.0 / 6) + 0.5) / 2));
  REQUIRE(summary["pass_at_k"]["4"] == 1.0);
  REQUIRE(summary["best_of_n"]["1"] == summary["pass_at_1"]);
  REQUIRE(summary["best_of_n"]["2"].get<double>() == Approx((1.0 + 0.5) / 2));  // blocks: right, right; wrong, right
  REQUIRE(summary["best_of_n"]["4"].get<double>() == Approx((1.0 + 0.0) / 2));
  REQUIRE(summary["majority"]["2"].get<double>() == Approx((0.5 + 0.5) / 2));  // ties: the first
  REQUIRE(summary["majority"]["4"].get<double>() ==
          Approx((0.0 + 0.0) / 2));  // "7" and "7.0" tie with 5, which is first
  REQUIRE(summary["mean_reward"].get<double>() == Approx(((2 * 1.5 + 2 * 0.25) / 4 + (1.5 + 3 * 0.25) / 4) / 2));
  REQUIRE(summary["score"]["auc"].get<double>() == Approx(14.0 / 15));
  REQUIRE(summary["score"]["missing"] == 0);
  REQUIRE_FALSE(summary.contains("step_success"));
  REQUIRE(summary["ci"]["greedy"][0].get<double>() == Approx(0.0945).margin(1e-4));  // Wilson's, of 1 of 2
  REQUIRE(summary["ci"]["greedy"][1].get<double>() == Approx(0.9055).margin(1e-4));
  REQUIRE((summary["n"]["greedy"] == 2 && summary["n"]["pass_at_1"] == 2));
  for (const char* name : {"pass_at_1", "pass_at_4", "best_of_2", "majority_4", "mean_reward", "score_auc", "score_ap"})
    REQUIRE(summary["ci"][name][0] <= summary["ci"][name][1]);
}

TEST_CASE("failed episodes are counted and are in no mean") {
  const std::vector<EpisodeOutcome> outcomes{outcome(0, 0, true), failed(0, 1),         failed(0, -1),  //
                                             outcome(1, 0, true), outcome(1, 1, false), outcome(1, -1, true),
                                             failed(2, 0),        failed(2, 1),         failed(2, -1)};
  const Json summary = summarize(kConfig, outcomes, 1);
  REQUIRE((summary["failed"] == 5 && summary["tasks"] == 3 && summary["samples"] == 2));
  REQUIRE(summary["greedy"] == 1.0);
  REQUIRE(summary["pass_at_1"].get<double>() == Approx((1.0 + 0.5) / 2));
  REQUIRE(summary["pass_at_k"]["2"] == 1.0);  // of task 1 alone: it has two samples
  REQUIRE(summary["mean_reward"].get<double>() == Approx((1.5 + (1.5 + 0.25) / 2) / 2));
}

TEST_CASE("a missing score is counted, it never wins a best-of-N") {
  const Json summary = summarize(kConfig,
                                 {outcome(0, 0, false), outcome(0, 1, true, 0.1),  //
                                  outcome(1, 0, true), outcome(1, 1, false)},
                                 1);
  REQUIRE(summary["best_of_n"]["2"] == 1.0);  // the only valid score; none valid: the first
  REQUIRE(summary["score"]["missing"] == 3);
  REQUIRE(summary["score"]["auc"].is_null());  // one class
  REQUIRE(summary["score"]["ap"] == 1.0);
}

TEST_CASE("boxes vote by overlap, and a sample without an answer has no vote") {
  std::vector<EpisodeOutcome> outcomes{outcome(0, 0, false, {}, "[500,500,600,600]"), outcome(0, 1, false, {}, "none"),
                                       outcome(0, 2, true, {}, "[100,100,200,200]"),
                                       outcome(0, 3, true, {}, "[105,100,205,200]")};
  for (EpisodeOutcome& one : outcomes) one.answer_is_box = one.answer != "none";
  REQUIRE(summarize(kConfig, outcomes, 1)["majority"]["4"] == 1.0);
  const Json silent = summarize(kConfig,
                                {outcome(0, 0, false), outcome(0, 1, true, {}, "The Red one."),
                                 outcome(0, 2, false, {}, "blue"), outcome(0, 3, true, {}, "red one")},
                                1);
  REQUIRE(silent["majority"]["4"] == 1.0);
  REQUIRE(silent["majority"]["1"] == 0.5);
}

TEST_CASE("numbers that differ only in marks that normalising drops do not vote together") {
  const Json summary = summarize(kConfig,
                                 {outcome(0, 0, false, {}, "45"), outcome(0, 1, true, {}, "4.5"),
                                  outcome(0, 2, true, {}, "4.5"), outcome(0, 3, false, {}, "-4.5")},
                                 1);
  REQUIRE(summary["majority"]["4"] == 1.0);
}

TEST_CASE("step success is the share of labelled steps that were right") {
  std::vector<EpisodeOutcome> outcomes{outcome(0, 0, true), outcome(0, 1, false), outcome(0, -1, true)};
  outcomes[0].steps = 4;
  outcomes[0].right_steps = 4;
  outcomes[1].steps = 6;
  outcomes[1].right_steps = 1;
  REQUIRE(summarize(kConfig, outcomes, 1)["step_success"] == 0.5);
}

TEST_CASE("nothing played, or nothing that counts, gives nulls and a table, never NaN") {
  for (const std::vector<EpisodeOutcome>& outcomes :
       {std::vector<EpisodeOutcome>{}, {failed(0, 0)}, {outcome(0, -1, true)}}) {
    const Json summary = summarize(kConfig, outcomes, std::nan(""));
    REQUIRE(summary["pass_at_1"].is_null());
    REQUIRE(summary["mean_reward"].is_null());
    REQUIRE(summary["seconds"].is_null());
    REQUIRE(summary.dump().find("nan") == std::string::npos);
    REQUIRE(agents::summary_table(summary).find("nan") == std::string::npos);
  }
}

TEST_CASE("a suite without scores has no best-of-N by score in its table") {
  const Json summary = summarize(kConfig, {outcome(0, 0, true), outcome(0, 1, false)}, 1);
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("best-of-N") == std::string::npos);
  REQUIRE(table.find("score AUC") == std::string::npos);
  REQUIRE(table.find("majority") != std::string::npos);
  REQUIRE(table.find("\nno sample has a valid score") != std::string::npos);
  const Json broken = summarize(kConfig, {outcome(0, 0, true), failed(0, 1), outcome(1, 0, true)}, 1);
  REQUIRE(broken["score"]["valid"] == 0);
  REQUIRE(agents::summary_table(broken).find("best-of-N") == std::string::npos);
  const Json scored = summarize(kConfig, {outcome(0, 0, true, 0.5), outcome(0, 1, false)}, 1);
  REQUIRE(agents::summary_table(scored).find("best-of-N") != std::string::npos);
  REQUIRE(agents::summary_table(scored).find("\n1 samples have no valid score") != std::string::npos);
}

TEST_CASE("summaries do not depend on the order of episodes, and the table shows the figures") {
  std::vector<EpisodeOutcome> outcomes;
  Rng rng(3);
  for (std::uint64_t task = 0; task < 60; ++task)
    for (int sample = -1; sample < 8; ++sample) {
      outcomes.push_back(outcome(task, sample, rng.chance(0.4), rng.uniform(), std::to_string(rng.between(0, 3))));
      outcomes.back().kind = task % 3 == 0 ? "sum" : "count";
    }
  const Json summary = summarize(kConfig, outcomes, 4);
  rng.shuffle(outcomes);
  REQUIRE(summarize(kConfig, outcomes, 4) == summary);
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("charts, level 2, test split: 60 tasks x 8 samples\n") == 0);
  REQUIRE(table.find(fmt::format("pass@1            {:.3f}   [{:.3f}, {:.3f}]       60\n",
                                 summary["pass_at_1"].get<double>(), summary["ci"]["pass_at_1"][0].get<double>(),
                                 summary["ci"]["pass_at_1"][1].get<double>())) != std::string::npos);
  REQUIRE(table.find("N samples             1      2      4      8\n") != std::string::npos);
  REQUIRE(table.find("5400 tokens in 4.0 s (1350 a second)\n") != std::string::npos);

  const auto groups = agents::accuracy_by(outcomes, 7, [](const EpisodeOutcome& one) { return one.kind; });
  REQUIRE(groups.size() == 2);
  REQUIRE((groups[0].name == "count" && groups[0].tasks == 40 && groups[1].name == "sum" && groups[1].tasks == 20));
  REQUIRE(groups[0].pass_at_1 * 40 + groups[1].pass_at_1 * 20 == Approx(summary["pass_at_1"].get<double>() * 60));
  REQUIRE(groups[0].pass_at_1_interval.low < groups[0].pass_at_1);
}

namespace {

EpisodeOutcome answered_twice(std::uint64_t task, int sample, bool first, bool second) {
  EpisodeOutcome one = outcome(task, sample, second);
  one.turn_correct = {first, second};
  return one;
}

}  // namespace

TEST_CASE("two-turn figures, computed by hand") {
  // Task 0: 0->1 0->1 1->1 1->0, task 1: 0->0 0->0 0->1 1->1, task 2: one sample failed.
  const std::vector<EpisodeOutcome> outcomes{answered_twice(0, -1, false, true),
                                             answered_twice(0, 0, false, true),
                                             answered_twice(0, 1, false, true),
                                             answered_twice(0, 2, true, true),
                                             answered_twice(0, 3, true, false),
                                             answered_twice(1, -1, true, false),
                                             answered_twice(1, 0, false, false),
                                             answered_twice(1, 1, false, false),
                                             answered_twice(1, 2, false, true),
                                             answered_twice(1, 3, true, true),
                                             answered_twice(2, -1, false, true),
                                             answered_twice(2, 0, true, true),
                                             answered_twice(2, 1, false, false),
                                             failed(2, 2),
                                             failed(2, 3)};
  const Json summary = summarize(kConfig, outcomes, 1);
  const Json figures = summary["two_turn"];
  const auto of = [&](const char* name) { return figures[name].get<double>(); };
  REQUIRE(of("acc_t1") == Approx((0.5 + 0.25 + 0.5) / 3));
  REQUIRE(of("acc_t2") == Approx((0.75 + 0.5 + 0.5) / 3));
  REQUIRE(of("acc_t2") == Approx(summary["pass_at_1"].get<double>()));
  REQUIRE(of("delta") == Approx((0.25 + 0.25 + 0) / 3));
  REQUIRE(of("m01") == Approx((0.5 + 0.25 + 0) / 3));
  REQUIRE(of("m10") == Approx((0.25 + 0 + 0) / 3));
  REQUIRE(of("m01_conditional") == Approx((0.5 + 0.25 + 0) / (0.5 + 0.75 + 0.5)));
  REQUIRE(of("m10_conditional") == Approx(0.25 / (0.5 + 0.25 + 0.5)));
  REQUIRE((figures["types"] == Json{{"0->0", 3}, {"0->1", 3}, {"1->0", 1}, {"1->1", 3}}));
  REQUIRE(of("greedy_acc_t1") == Approx(1.0 / 3));
  REQUIRE(of("greedy_acc_t2") == Approx(2.0 / 3));
  REQUIRE(figures["greedy_acc_t2"] == summary["greedy"]);
  REQUIRE(figures["greedy_m01_conditional"] == 1.0);
  REQUIRE(figures["greedy_m10_conditional"] == 1.0);
  REQUIRE((figures["greedy_types"] == Json{{"0->0", 0}, {"0->1", 2}, {"1->0", 1}, {"1->1", 0}}));
  for (const char* name : {"acc_t1", "delta", "m01_conditional", "greedy_acc_t2", "greedy_m10"})
    REQUIRE(summary["ci"][name][0] <= summary["ci"][name][1]);
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("two turns       samples   95 % interval     tasks    greedy   95 % interval     tasks\n") !=
          std::string::npos);
  REQUIRE(table.find("\nM 0->1 of wrong   0.429   [") != std::string::npos);
  REQUIRE(table.find("\ntypes, samples    0->0: 3  0->1: 3  1->0: 1  1->1: 3\n") != std::string::npos);
}

TEST_CASE("a rate of wrong first answers is null where all are right, and one-turn runs have no two-turn figures") {
  const Json summary = summarize(kConfig, {answered_twice(0, 0, true, true), answered_twice(0, -1, true, false)}, 1);
  REQUIRE(summary["two_turn"]["m01_conditional"].is_null());
  REQUIRE(summary["two_turn"]["m10_conditional"] == 0.0);
  REQUIRE(agents::summary_table(summary).find("nan") == std::string::npos);
  REQUIRE_FALSE(summarize(kConfig, {outcome(0, 0, true)}, 1).contains("two_turn"));
}

TEST_CASE("the turns of an episode tell which answer was right") {
  record::Episode episode;
  episode.turns.resize(3);
  episode.turns[0].facts.refused = "no tools here";
  episode.turns[1].facts.turn_correct = false;
  episode.turns[2].facts.turn_correct = true;
  REQUIRE(outcome_of(episode).turn_correct == std::vector<bool>{false, true});
}

TEST_CASE("two runs are compared on the tasks that both have, task by task") {
  std::vector<EpisodeOutcome> first, other;
  Rng rng(5);
  for (std::uint64_t task = 0; task < 50; ++task)
    for (int sample = -1; sample < 4; ++sample) {
      first.push_back(outcome(task, sample, task % 2 == 0, rng.uniform()));  // easy and hard tasks
      other.push_back(outcome(task, sample, task % 2 == 0 || (task == 1 && sample >= 0), rng.uniform()));
    }
  other.push_back(outcome(77, 0, true, 0.5));  // first does not have it
  const Json difference = agents::compare(first, other, 7);
  REQUIRE(difference["greedy"] == 0.0);
  REQUIRE(difference["ci"]["greedy"][0].get<double>() == Approx(-0.0378).margin(1e-4));  // Newcombe's
  REQUIRE(difference["ci"]["greedy"][1].get<double>() == Approx(0.0378).margin(1e-4));
  REQUIRE(difference["pass_at_1"].get<double>() == Approx(1.0 / 50));
  REQUIRE(difference["ci"]["pass_at_1"][0].get<double>() == Approx(-0.0335).margin(1e-4));
  REQUIRE(difference["n"]["pass_at_1"] == 50);
  REQUIRE(difference["ci"]["pass_at_1"][1].get<double>() < 0.1);  // unpaired it would be 0.2
  REQUIRE(difference["pass_at_4"].get<double>() == Approx(1.0 / 50));
  REQUIRE(difference.contains("score_auc"));
  REQUIRE_FALSE(difference.contains("acc_t1"));
}
