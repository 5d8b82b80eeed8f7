#include "agents/run_summary.h"
#include "agents/run_summary_table.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "agents/run_summary_table.h"
#include "core/rng.h"

using namespace agon;
using agents::EpisodeOutcome;
using agents::outcome_of;
using agents::RunSummary;
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
  const RunSummary summary = summarize(kConfig, outcomes, 2.5);
  const agents::RunFigures& figures = summary.figures;
  REQUIRE((summary.suite == "charts" && summary.split == "test" && summary.level == 2));
  REQUIRE((summary.tasks == 2 && summary.samples == 4));
  REQUIRE((summary.tokens == 100 && summary.seconds == 2.5 && summary.failed == 0));
  REQUIRE(figures.greedy.value == 0.5);
  REQUIRE(figures.pass_at_1.value == Approx((0.5 + 0.25) / 2));
  REQUIRE(figures.pass_at_k.at(1).value == figures.pass_at_1.value);
  REQUIRE(figures.pass_at_k.at(2).value == Approx(((1 - 1.0 / 6) + 0.5) / 2));
  REQUIRE(figures.pass_at_k.at(4).value == 1.0);
  REQUIRE(figures.best_of_n.at(1).value == figures.pass_at_1.value);
  REQUIRE(figures.best_of_n.at(2).value == Approx((1.0 + 0.5) / 2));  // blocks: right, right; wrong, right
  REQUIRE(figures.best_of_n.at(4).value == Approx((1.0 + 0.0) / 2));
  REQUIRE(figures.majority.at(2).value == Approx((0.5 + 0.5) / 2));  // ties: the first
  REQUIRE(figures.majority.at(4).value == Approx((0.0 + 0.0) / 2));  // "7" and "7.0" tie with 5, which is first
  REQUIRE(figures.mean_reward.value == Approx(((2 * 1.5 + 2 * 0.25) / 4 + (1.5 + 3 * 0.25) / 4) / 2));
  REQUIRE(figures.score_auc.value == Approx(14.0 / 15));
  REQUIRE(summary.missing_scores == 0);
  REQUIRE_FALSE(figures.step_success);
  REQUIRE(figures.greedy.interval.low == Approx(0.0945).margin(1e-4));  // Wilson's, of 1 of 2
  REQUIRE(figures.greedy.interval.high == Approx(0.9055).margin(1e-4));
  REQUIRE((figures.greedy.tasks == 2 && figures.pass_at_1.tasks == 2));
  for (const Estimate& figure : {figures.pass_at_1, figures.pass_at_k.at(4), figures.best_of_n.at(2),
                                 figures.majority.at(4), figures.mean_reward, figures.score_auc, figures.score_ap})
    REQUIRE(figure.interval.low <= figure.interval.high);
}

TEST_CASE("the JSON of a summary: its keys in order, undefined figures null, and intervals by name") {
  const std::vector<EpisodeOutcome> outcomes{outcome(0, -1, true, 0.9, "7"), outcome(0, 0, false, 0.2, "5"),
                                             outcome(0, 1, true, {}, "7")};
  RunSummary summary = summarize(kConfig, outcomes, 2.5);
  const auto expected = [](const char* more) {
    return R"({"suite":"charts","split":"test","level":2,"tasks":1,"samples":2,"greedy":1.0,"pass_at_1":0.5,)"
           R"("mean_reward":0.875,"pass_at_k":{"1":0.5,"2":1.0},"best_of_n":{"1":0.5,"2":0.0},)"
           R"("majority":{"1":0.5,"2":0.0},"score":{"auc":null,"ap":0.0,"missing":1,"valid":1},"tokens":30,)"
           R"("seconds":2.5,"failed":0)" +
           std::string(more);
  };
  Json json = to_json(summary);
  std::string metrics, counted;
  for (const auto& [name, interval] : json["ci"].items()) metrics += name + " ";
  for (const auto& [name, tasks] : json["n"].items()) counted += name + " ";
  REQUIRE(metrics == "best_of_1 best_of_2 greedy majority_1 majority_2 mean_reward pass_at_1 pass_at_2 score_ap ");
  REQUIRE(counted == metrics);
  REQUIRE(json["ci"]["greedy"][1] == 1.0);
  REQUIRE(json["n"]["greedy"] == 1);
  json.erase("ci");
  json.erase("n");
  REQUIRE(json.dump() == expected("}"));

  summary.verified.emplace();
  summary.verified->verifier = "models/judge";
  summary.verified->best = {{1, {0.5, {0.25, 0.75}, 1}}, {2, {}}};
  summary.verified->majority = {{1, {0.5, {0.25, 0.75}, 1}}, {2, {}}};
  summary.verified->not_fitting = {2};
  json = to_json(summary);
  REQUIRE(json["ci"]["verified_1"] == Json{0.25, 0.75});
  REQUIRE(json["n"]["verified_majority_1"] == 1);
  REQUIRE_FALSE(json["ci"].contains("verified_2"));
  RunSummary again = summary;
  again.verified = agents::verified_in(json);
  REQUIRE(to_json(again) == json);
  json.erase("ci");
  json.erase("n");
  REQUIRE(json.dump() == expected(R"(,"verifier":"models/judge","verified":{"1":0.5,"2":null},)"
                                  R"("verified_majority":{"1":0.5,"2":null},"not_fitting":[2]})"));
}

TEST_CASE("what an earlier agon told of a verifier is read: no vote, and no number of tasks") {
  REQUIRE_FALSE(agents::verified_in(Json()));
  REQUIRE_FALSE(agents::verified_in({{"pass_at_1", 0.5}}));
  const Json old{{"verifier", "v"}, {"verified", {{"1", 0.5}}}, {"ci", {{"verified_1", {0.25, 0.75}}}}};
  RunSummary summary = summarize(kConfig, {outcome(0, 0, true)}, 1);
  summary.verified = agents::verified_in(old);
  const Json json = to_json(summary);
  REQUIRE((json["verified"] == old["verified"] && json["ci"]["verified_1"] == old["ci"]["verified_1"]));
  REQUIRE_FALSE((json.contains("verified_majority") || json["n"].contains("verified_1")));
  REQUIRE(agents::summary_table(summary).find("\nverified          0.500\n") != std::string::npos);
}

TEST_CASE("failed episodes are counted and are in no mean") {
  const std::vector<EpisodeOutcome> outcomes{outcome(0, 0, true), failed(0, 1),         failed(0, -1),  //
                                             outcome(1, 0, true), outcome(1, 1, false), outcome(1, -1, true),
                                             failed(2, 0),        failed(2, 1),         failed(2, -1)};
  const RunSummary summary = summarize(kConfig, outcomes, 1);
  REQUIRE((summary.failed == 5 && summary.tasks == 3 && summary.samples == 2));
  REQUIRE(summary.figures.greedy.value == 1.0);
  REQUIRE(summary.figures.pass_at_1.value == Approx((1.0 + 0.5) / 2));
  REQUIRE(summary.figures.pass_at_k.at(2).value == 1.0);  // task 1 alone: only it has two samples
  REQUIRE(summary.figures.mean_reward.value == Approx((1.5 + (1.5 + 0.25) / 2) / 2));
}

TEST_CASE("a missing score is counted, it never wins a best-of-N") {
  const RunSummary summary = summarize(kConfig,
                                       {outcome(0, 0, false), outcome(0, 1, true, 0.1),  //
                                        outcome(1, 0, true), outcome(1, 1, false)},
                                       1);
  REQUIRE(summary.figures.best_of_n.at(2).value == 1.0);  // takes the only valid score; if none is valid, the first
  REQUIRE(summary.missing_scores == 3);
  REQUIRE_FALSE(summary.figures.score_auc.defined());  // one class
  REQUIRE(summary.figures.score_ap.value == 1.0);
}

TEST_CASE("boxes vote by overlap, and a sample without an answer has no vote") {
  std::vector<EpisodeOutcome> outcomes{outcome(0, 0, false, {}, "[500,500,600,600]"), outcome(0, 1, false, {}, "none"),
                                       outcome(0, 2, true, {}, "[100,100,200,200]"),
                                       outcome(0, 3, true, {}, "[105,100,205,200]")};
  for (EpisodeOutcome& one : outcomes) one.answer_is_box = one.answer != "none";
  REQUIRE(summarize(kConfig, outcomes, 1).figures.majority.at(4).value == 1.0);
  const RunSummary silent = summarize(kConfig,
                                      {outcome(0, 0, false), outcome(0, 1, true, {}, "The Red one."),
                                       outcome(0, 2, false, {}, "blue"), outcome(0, 3, true, {}, "red one")},
                                      1);
  REQUIRE(silent.figures.majority.at(4).value == 1.0);
  REQUIRE(silent.figures.majority.at(1).value == 0.5);
}

TEST_CASE("numbers that differ only in marks that normalising drops do not vote together") {
  const RunSummary summary = summarize(kConfig,
                                       {outcome(0, 0, false, {}, "45"), outcome(0, 1, true, {}, "4.5"),
                                        outcome(0, 2, true, {}, "4.5"), outcome(0, 3, false, {}, "-4.5")},
                                       1);
  REQUIRE(summary.figures.majority.at(4).value == 1.0);
}

TEST_CASE("step success is the share of labelled steps that were right") {
  std::vector<EpisodeOutcome> outcomes{outcome(0, 0, true), outcome(0, 1, false), outcome(0, -1, true)};
  outcomes[0].steps = 4;
  outcomes[0].right_steps = 4;
  outcomes[1].steps = 6;
  outcomes[1].right_steps = 1;
  REQUIRE(summarize(kConfig, outcomes, 1).figures.step_success->value == 0.5);
}

TEST_CASE("nothing played, or nothing that counts, gives nulls and a table, never NaN") {
  for (const std::vector<EpisodeOutcome>& outcomes :
       {std::vector<EpisodeOutcome>{}, {failed(0, 0)}, {outcome(0, -1, true)}}) {
    const RunSummary summary = summarize(kConfig, outcomes, std::nan(""));
    const Json json = to_json(summary);
    REQUIRE(json["pass_at_1"].is_null());
    REQUIRE(json["mean_reward"].is_null());
    REQUIRE(json["seconds"].is_null());
    REQUIRE(json.dump().find("nan") == std::string::npos);
    REQUIRE(agents::summary_table(summary).find("nan") == std::string::npos);
  }
}

TEST_CASE("a suite without scores has no best-of-N by score in its table") {
  const RunSummary summary = summarize(kConfig, {outcome(0, 0, true), outcome(0, 1, false)}, 1);
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("best-of-N") == std::string::npos);
  REQUIRE(table.find("score AUC") == std::string::npos);
  REQUIRE(table.find("majority") != std::string::npos);
  REQUIRE(table.find("\nno sample has a valid score") != std::string::npos);
  const RunSummary broken = summarize(kConfig, {outcome(0, 0, true), failed(0, 1), outcome(1, 0, true)}, 1);
  REQUIRE(broken.valid_scores == 0);
  REQUIRE(agents::summary_table(broken).find("best-of-N") == std::string::npos);
  const RunSummary scored = summarize(kConfig, {outcome(0, 0, true, 0.5), outcome(0, 1, false)}, 1);
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
  const RunSummary summary = summarize(kConfig, outcomes, 4);
  rng.shuffle(outcomes);
  REQUIRE(to_json(summarize(kConfig, outcomes, 4)) == to_json(summary));
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("charts, level 2, test split: 60 tasks x 8 samples\n") == 0);
  REQUIRE(table.find(fmt::format("pass@1            {:.3f}   [{:.3f}, {:.3f}]       60\n",
                                 summary.figures.pass_at_1.value, summary.figures.pass_at_1.interval.low,
                                 summary.figures.pass_at_1.interval.high)) != std::string::npos);
  REQUIRE(table.find("N samples             1      2      4      8\n") != std::string::npos);
  REQUIRE(table.find("5400 tokens in 4.0 s (1350 a second)\n") != std::string::npos);

  const auto groups = agents::accuracy_by(outcomes, 7, [](const EpisodeOutcome& one) { return one.kind; });
  REQUIRE(groups.size() == 2);
  REQUIRE((groups[0].name == "count" && groups[0].tasks == 40 && groups[1].name == "sum" && groups[1].tasks == 20));
  REQUIRE(groups[0].pass_at_1.value * 40 + groups[1].pass_at_1.value * 20 ==
          Approx(summary.figures.pass_at_1.value * 60));
  REQUIRE(groups[0].pass_at_1.interval.low < groups[0].pass_at_1.value);
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
  const RunSummary summary = summarize(kConfig, outcomes, 1);
  const agents::TwoTurnFigures& sampled = summary.figures.two_turn->samples;
  const agents::TwoTurnFigures& greedy = summary.figures.two_turn->greedy;
  REQUIRE(sampled.acc_t1.value == Approx((0.5 + 0.25 + 0.5) / 3));
  REQUIRE(sampled.acc_t2.value == Approx((0.75 + 0.5 + 0.5) / 3));
  REQUIRE(sampled.acc_t2.value == Approx(summary.figures.pass_at_1.value));
  REQUIRE(sampled.delta.value == Approx((0.25 + 0.25 + 0) / 3));
  REQUIRE(sampled.m01.value == Approx((0.5 + 0.25 + 0) / 3));
  REQUIRE(sampled.m10.value == Approx((0.25 + 0 + 0) / 3));
  REQUIRE(sampled.m01_conditional.value == Approx((0.5 + 0.25 + 0) / (0.5 + 0.75 + 0.5)));
  REQUIRE(sampled.m10_conditional.value == Approx(0.25 / (0.5 + 0.25 + 0.5)));
  REQUIRE(summary.types == agents::TurnTypes{3, 3, 1, 3});
  REQUIRE(greedy.acc_t1.value == Approx(1.0 / 3));
  REQUIRE(greedy.acc_t2.value == Approx(2.0 / 3));
  REQUIRE(greedy.acc_t2.value == summary.figures.greedy.value);
  REQUIRE(greedy.m01_conditional.value == 1.0);
  REQUIRE(greedy.m10_conditional.value == 1.0);
  REQUIRE(summary.greedy_types == agents::TurnTypes{0, 2, 1, 0});
  for (const Estimate& figure : {sampled.acc_t1, sampled.delta, sampled.m01_conditional, greedy.acc_t2, greedy.m10})
    REQUIRE(figure.interval.low <= figure.interval.high);
  const Json json = to_json(summary), figures = json["two_turn"];
  std::string names;
  for (const auto& [name, value] : figures.items()) names += name + " ";
  REQUIRE(names ==
          "acc_t1 acc_t2 delta m01 m10 m01_conditional m10_conditional types greedy_acc_t1 greedy_acc_t2 greedy_delta "
          "greedy_m01 greedy_m10 greedy_m01_conditional greedy_m10_conditional greedy_types ");
  REQUIRE((figures["types"] == Json{{"0->0", 3}, {"0->1", 3}, {"1->0", 1}, {"1->1", 3}}));
  REQUIRE((figures["greedy_types"] == Json{{"0->0", 0}, {"0->1", 2}, {"1->0", 1}, {"1->1", 0}}));
  REQUIRE(figures["greedy_acc_t2"] == json["greedy"]);
  for (const char* name : {"acc_t1", "delta", "m01_conditional", "greedy_acc_t2", "greedy_m10"})
    REQUIRE(json["ci"][name][0] <= json["ci"][name][1]);
  const std::string table = agents::summary_table(summary);
  CAPTURE(table);
  REQUIRE(table.find("two turns       samples   95 % interval     tasks    greedy   95 % interval     tasks\n") !=
          std::string::npos);
  REQUIRE(table.find("\nM 0->1 of wrong   0.429   [") != std::string::npos);
  REQUIRE(table.find("\ntypes, samples    0->0: 3  0->1: 3  1->0: 1  1->1: 3\n") != std::string::npos);
}

TEST_CASE("a rate of wrong first answers is null where all are right, and one-turn runs have no two-turn figures") {
  const RunSummary summary =
      summarize(kConfig, {answered_twice(0, 0, true, true), answered_twice(0, -1, true, false)}, 1);
  const Json json = to_json(summary);
  REQUIRE(json["two_turn"]["m01_conditional"].is_null());
  REQUIRE(json["two_turn"]["m10_conditional"] == 0.0);
  REQUIRE(agents::summary_table(summary).find("nan") == std::string::npos);
  REQUIRE_FALSE(to_json(summarize(kConfig, {outcome(0, 0, true)}, 1)).contains("two_turn"));
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
  other.push_back(outcome(77, 0, true, 0.5));  // not in `first`
  const agents::RunDifference difference = agents::compare(first, other, 7);
  const agents::RunFigures& figures = difference.figures;
  REQUIRE(figures.greedy.value == 0.0);
  REQUIRE(figures.greedy.interval.low == Approx(-0.0378).margin(1e-4));  // Newcombe's
  REQUIRE(figures.greedy.interval.high == Approx(0.0378).margin(1e-4));
  REQUIRE(figures.pass_at_1.value == Approx(1.0 / 50));
  REQUIRE(figures.pass_at_1.interval.low == Approx(-0.0335).margin(1e-4));
  REQUIRE(figures.pass_at_1.tasks == 50);
  REQUIRE(figures.pass_at_1.interval.high < 0.1);  // unpaired it would be 0.2
  REQUIRE(figures.pass_at_k.at(4).value == Approx(1.0 / 50));
  REQUIRE(figures.score_auc.defined());
  REQUIRE_FALSE(figures.two_turn);
  const Json json = to_json(difference);
  std::string names;
  for (const auto& [name, value] : json.items()) names += name + " ";
  REQUIRE(names ==
          "ci n best_of_1 best_of_2 best_of_4 greedy majority_1 majority_2 majority_4 mean_reward pass_at_1 pass_at_2 "
          "pass_at_4 score_ap score_auc ");
  REQUIRE(json["pass_at_1"] == figures.pass_at_1.value);
  REQUIRE(json["ci"]["pass_at_1"] == Json{figures.pass_at_1.interval.low, figures.pass_at_1.interval.high});
  REQUIRE(json["n"]["pass_at_1"] == 50);
}
