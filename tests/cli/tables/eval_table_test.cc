#include "cli/tables/eval_table.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "agents/run_summary.h"

using namespace agon;
using agents::EpisodeOutcome;
using Catch::Contains;

namespace {

// Twelve tasks of four samples and a greedy one; `right` samples of each are right.
std::vector<EpisodeOutcome> outcomes_of(int right, bool two_turn) {
  std::vector<EpisodeOutcome> outcomes;
  for (std::uint64_t task = 0; task < 12; ++task)
    for (int sample = -1; sample < 4; ++sample) {
      EpisodeOutcome& one = outcomes.emplace_back();
      one.task_index = task;
      one.sample = sample;
      one.success = sample < right;
      one.score = one.success ? 0.9 : 0.1;
      if (two_turn) one.turn_correct = {sample == 0, one.success};
    }
  return outcomes;
}

cli::EvalRow row(const std::string& suite, const std::string& policy, const std::vector<EpisodeOutcome>& outcomes,
                 const std::optional<agents::RunDifference>& difference = {}) {
  const Json config{{"suite", suite}, {"split", "test"}, {"level", 3}, {"seed", 1}};
  return {suite, policy, "runs/e/" + policy, agents::summarize(config, outcomes, 1), difference};
}

// The table with runs of spaces as one space.
std::string table_of(const std::vector<cli::EvalRow>& rows) {
  std::string text = cli::eval_table(rows);
  text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
  return text;
}

}  // namespace

TEST_CASE("one-turn policies stand below each other, with what they differ from the first") {
  const auto one = outcomes_of(1, false), two = outcomes_of(2, false);
  const std::string table =
      table_of({row("charts", "tiny", one), row("charts", "grpo", two, agents::compare(one, two, 1)),
                row("shapes", "tiny", two)});
  CAPTURE(table);
  CHECK_THAT(table, Contains("charts, level 3, test split: 12 tasks x 4 samples\n"));
  CHECK_THAT(table, Contains("shapes, level 3, test split: 12 tasks x 4 samples\n"));
  CHECK_THAT(table, Contains(" greedy pass@1 pass@4 best@4 majority@4"));
  CHECK_THAT(table, Contains("\ntiny 1.000 0.250 1.000"));
  CHECK_THAT(table, Contains("\ngrpo 1.000 0.500"));
  CHECK_THAT(table, Contains("\nminus tiny +0.000 +0.250 +0.000"));
  CHECK_THAT(table, Contains("over 12 tasks"));
  CHECK_THAT(table, Contains("[0.033, 0.437]"));  // Newcombe's, of 12 tasks
  CHECK_THAT(table, Contains("paired by task"));
}

TEST_CASE("two-turn policies show both answers, of the samples and of the greedy ones") {
  const std::string table = table_of({row("charts", "tiny", outcomes_of(2, true))});
  CAPTURE(table);
  CHECK_THAT(table, Contains("12 tasks x 4 samples, answered twice\n"));
  CHECK_THAT(table, Contains("\nsamples acc@t1 acc@t2 delta M 0->1"));
  CHECK_THAT(table, Contains("\ntiny 0.250 0.500 0.250 0.250"));
  CHECK_THAT(table, Contains("\ngreedy acc@t1"));
  CHECK_THAT(table, Contains("\ntiny 0.000 1.000 1.000 1.000"));
}

TEST_CASE("a single sample has no choice among samples, and what is undefined is a dash") {
  std::vector<EpisodeOutcome> outcomes = outcomes_of(1, false);
  std::erase_if(outcomes, [](const EpisodeOutcome& one) { return one.sample != 0; });
  const std::string table = table_of({row("charts", "tiny", outcomes)});
  CAPTURE(table);
  CHECK_THAT(table, !Contains("best@") && Contains(" greedy pass@1 score AUC"));
  CHECK_THAT(table, Contains("\ntiny - 1.000 -"));
}

TEST_CASE("the JSON of an evaluation has a row a policy and suite") {
  const auto one = outcomes_of(1, false);
  const Json json = cli::eval_json({row("charts", "a", one), row("charts", "b", one, agents::compare(one, one, 1))});
  REQUIRE(json["rows"].size() == 2);
  CHECK((json["rows"][0]["difference"].is_null() && json["rows"][1]["difference"]["pass_at_1"] == 0.0));
  CHECK((json["rows"][1]["policy"] == "b" && json["rows"][1]["run"] == "runs/e/b"));
  CHECK(json["rows"][0]["summary"]["pass_at_1"] == 0.25);
}
