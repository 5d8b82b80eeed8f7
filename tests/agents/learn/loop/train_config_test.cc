#include "agents/learn/loop/train_config.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agents/config_reader.h"
#include "agents/learn/credit/credit.h"
#include "core/file.h"
#include "error_of.h"
#include "first_step.h"
#include "paths.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;
using namespace agon::test;

namespace {

std::string error_of(std::vector<std::string> changes) {
  return test::error_of([&] { config_with("out", std::move(changes)); });
}

}  // namespace

TEST_CASE("train config: a wrong key, type or value is told with its name") {
  CHECK(error_of({}) == "");
  CHECK_THAT(error_of({"optimiser.learning_rate=1"}), Catch::Contains("'optimiser'") && Catch::Contains("'optimizer'"));
  CHECK_THAT(error_of({"optimizer.learning_rat=1"}), Catch::Contains("learning_rate"));
  CHECK_THAT(error_of({"steps=many"}), Catch::Contains("'steps'") && Catch::Contains("many"));
  CHECK_THAT(error_of({"steps=1.5"}), Catch::Contains("whole number"));
  CHECK_THAT(error_of({"steps=0"}), Catch::Contains("'steps' must be at least 1"));
  CHECK_THAT(error_of({"method=grop"}), Catch::Contains("grpo"));
  CHECK_THAT(error_of({"credit.kll=1"}), Catch::Contains("kl"));
  CHECK_THAT(error_of({"sources.0.promts=3"}), Catch::Contains("prompts"));
  CHECK_THAT(error_of({"sources.7.prompts=3"}), Catch::Contains("2 entries"));
  CHECK_THAT(error_of({"sources.0.suite=chart"}), Catch::Contains("charts"));
  CHECK_THAT(error_of({"sources.0.role=verifer"}), Catch::Contains("'verifier'"));
  CHECK_THAT(error_of({"sources=[]"}), Catch::Contains("at least one suite"));
  CHECK_THAT(error_of({"sampling.temperature=0"}), Catch::Contains("temperature"));
  CHECK_THAT(error_of({"steps"}), Catch::Contains("KEY=VALUE"));
  CHECK_THAT(error_of({"device=gpu"}), Catch::Contains("cpu or cuda") && Catch::Contains("gpu"));
  CHECK_THAT(error_of({"precision=fp16"}), Catch::Contains("bfloat16"));
  CHECK_THAT(error_of({"rewards.accuracy=high"}), Catch::Contains("accuracy"));
}

TEST_CASE("train config: what cannot work is refused before anything is played") {
  CHECK_THAT(error_of({"evaluation.metric=pass_at1"}), Catch::Contains("Did you mean 'pass_at_1'"));
  CHECK_THAT(error_of({"evaluation.metric=acc_t2"}), Catch::Contains("no 'acc_t2'"));
  CHECK_THAT(error_of({"evaluation.split=train"}), Catch::Contains("must be validation or test, got \"train\""));
  CHECK_THAT(error_of({"evaluation.tasks=1001"}), Catch::Contains("validation split of charts-3 has 1000 tasks"));
  CHECK(error_of({"evaluation.metric=acc_t2", "sources=[{suite: charts, two_turn: true}]"}) == "");
  CHECK_THAT(error_of({"reference=no/such/folder"}), Catch::Contains("no/such/folder"));
  CHECK_THAT(error_of({"loss.clip_low=-1"}), Catch::Contains("'loss.clip_low' must be a number from 0, got -1"));
  CHECK_THAT(error_of({"loss.clip_high=foo"}), Catch::Contains("'loss.clip_high' must be a number from 0"));
  CHECK_THAT(error_of({"optimizer.weight_decay=-1"}), Catch::Contains("weight_decay"));
  CHECK_THAT(error_of({"sources=[{suite: charts, prompts: 4}]", "loss.minibatches=5"}),
             Catch::Contains("'loss.minibatches' is 5") && Catch::Contains("at most 4"));
  CHECK_THAT(error_of({"optimizer.learning_rate=0"}), Catch::Contains("'learning_rate' must be above 0, got 0"));
  CHECK_THAT(error_of({"optimizer.clip_norm=0"}), Catch::Contains("'clip_norm' must be above 0, got 0"));
  CHECK_THAT(error_of({"seed=-3"}), Catch::Contains("'seed'"));
  CHECK(error_of({"seed=12345678901234567890"}) == "");
  CHECK_THAT(error_of({"samples=5000000000"}), Catch::Contains("'samples'"));
  CHECK_THAT(error_of({"sources.99999999999999999999999.level=1"}), Catch::Contains("is not the number of one"));
  CHECK_THAT(error_of({"sources=[{suite: charts, expert: true}]"}), Catch::Contains("methods that imitate"));
  CHECK(error_of({"method=sft", "samples=8", "sources=[{suite: charts, expert: true}]"}) == "");
  CHECK_THAT(error_of({"probes.steps=line"}), Catch::Contains("newline"));
  CHECK_THAT(error_of({"sources=[{suite: charts, expert_turn: papr}]"}), Catch::Contains("'paper'"));
  CHECK_THAT(error_of({"sources=[{suite: charts, expert_turn: paper, two_turn: true}]"}), Catch::Contains("two_turn"));
  const std::string encoder = "similarity=" + agon::test::golden_path("sentence_encoder").string();
  CHECK_THAT(error_of({encoder, "sources=[{suite: darkroom, expert_turn: paper}]"}),
             Catch::Contains("'similarity' does nothing without a source"));
  CHECK(error_of({encoder, "sources=[{suite: lookup, expert_turn: paper}]"}) == "");
  CHECK_THAT(error_of({"similarity=no/such/folder"}), Catch::Contains("no/such/folder"));
  for (const char* source : {"{suite: phone}", "{suite: lookup}", "{suite: charts, expert_turn: paper}",
                             "{suite: charts}, {suite: charts, role: critic, against: self}"})
    CHECK_THAT(
        error_of({"sources=[" + std::string(source) + "]", "reward_model=" + kModel, "rewards={reward_model: 1}"}),
        Catch::Contains("'reward_model' compares whole responses"));
  CHECK(error_of({"reward_model=" + kModel, "rewards={reward_model: 1}"}) == "");
  CHECK_THAT(error_of({"lora.targets=.*"}), Catch::Contains("'lora.rank'"));
  CHECK_THAT(error_of({"stages=[{from_step: 9}, {from_step: 3}]"}), Catch::Contains("from step 3"));
  CHECK_THAT(error_of({"method=adpo", "stages=[{from_step: 9, credit: {gamma: 0.1}}]"}), Catch::Contains("pairwise"));
  CHECK_THAT(error_of({"method=score", "steps=20", "stages=[{from_step: 9, credit: {stage: 1, alpha: 5}}]"}),
             Catch::Contains("from step 9: 'credit.alpha' does nothing with stage"));
}

TEST_CASE("train config: groups that no method could compare are refused") {
  CHECK_THAT(error_of({"samples=1"}), Catch::Contains("'samples' is 1, and grpo compares"));
  CHECK(error_of({"method=star", "samples=1", "sources=[{suite: charts, two_turn: true}]"}) == "");
  CHECK_THAT(error_of({"rewards={accuracy: 0, format: 0}"}), Catch::Contains("every weight of 'rewards' is 0"));
  CHECK(error_of({"rewards={accuracy: 0, format: 1}"}) == "");
  CHECK_THAT(error_of({"method=" + std::string(GENERATE("adapo", "score", "star"))}),
             Catch::Contains("source charts-3 answers once") && Catch::Contains("'two_turn'"));
}

TEST_CASE("train config: a loss without a gradient is refused, and a clamp is a number above 0") {
  CHECK_THAT(error_of({"loss.kl_estimator=k1"}), Catch::Contains("gradient") && Catch::Contains("k3"));
  CHECK_THAT(error_of({"loss.kl_estimator=k4"}), Catch::Contains("must be k2 or k3"));
  CHECK(error_of({"credit.kl=0.1", "loss.kl_estimator=k2", "loss.kl_clamp=10"}) == "");
  CHECK_THAT(error_of({"loss.kl_clamp=0"}), Catch::Contains("'loss.kl_clamp' must be a number above 0, got 0"));
  CHECK_THAT(error_of({"loss.kl_clamp=much"}), Catch::Contains("'loss.kl_clamp'"));
  CHECK_FALSE(config_with("out", {}).kl_clamp);
  CHECK(config_with("out", {"credit.kl=0.1", "loss.kl_clamp=10"}).kl_clamp == 10);
}

TEST_CASE("train config: the longest response of dr_grpo and dapo is the one that sampling cuts") {
  const std::string method = GENERATE("dr_grpo", "dapo");
  const auto longest = [&](std::vector<std::string> changes) {
    changes.push_back("method=" + method);
    if (method == "dapo") changes.push_back("credit.overlong_buffer=8");
    return config_with("out", changes).credit.at("max_tokens").get<int>();
  };
  CHECK(longest({"sampling.max_tokens=96"}) == 96);
  CHECK(longest({"sampling.max_tokens=96", "credit.max_tokens=50"}) == 50);
}

TEST_CASE("train config: what hardly works as it was meant is said") {
  CHECK(warnings_of(config_with("out", {})).empty());
  const auto slow = warnings_of(config_with("out", {"precision=bfloat16"}));
  REQUIRE(slow.size() == 1);
  CHECK_THAT(slow.front(), Catch::Contains("slower") && Catch::Contains("precision: float32"));
  CHECK(warnings_of(config_with("out", {"device=cuda", "precision=bfloat16"})).empty());
  const auto chosen = warnings_of(config_with("out", {"evaluation.split=test"}));
  REQUIRE(chosen.size() == 1);
  CHECK_THAT(chosen.front(), Catch::Contains("best/"));
}

TEST_CASE("train config: a preset over all settings, of a file or of a stage, is that preset") {
  const std::vector<std::string> adapo{"method=adapo", "sources=[{suite: charts, two_turn: true}]"};
  const TrainConfig text = config_with("out", adapo);
  CHECK(text.credit.at("k01") == "preset");
  std::vector<std::string> staged = adapo;
  staged.push_back("stages=[{from_step: 5, credit: {preset: table4}}]");
  const CreditGroup group{
      CreditRollout{.correct = true,
                    .segments = {{env::SegmentKind::answer, 1, 0}, {env::SegmentKind::answer, 1, 1}},
                    .turn_correct = {false, true}},
      CreditRollout{.segments = {{env::SegmentKind::answer, 1, 0}, {env::SegmentKind::answer, 1, 1}},
                    .turn_correct = {true, false}}};
  const auto right_after_wrong = [&](const Json& settings) {
    return make_credit("adapo", settings)->assign(group).rollout_figures[0];
  };
  const TrainConfig both = config_with("out", staged);
  CHECK(right_after_wrong(both.credit) == right_after_wrong({{"preset", "text"}}));
  CHECK(right_after_wrong(both.stages.at(0).settings) == right_after_wrong({{"preset", "table4"}}));
  CHECK(right_after_wrong(both.credit) != right_after_wrong(both.stages.at(0).settings));
}

TEST_CASE("train config: what is printed reads back as the same") {
  const TempFolder folder;
  const TrainConfig config =
      config_with(folder.path() / "out", {"method=adpo", "stages=[{from_step: 3, credit: {kl: 0.5}}]"});
  write_file_atomically((folder.path() / "config.yaml").string(), to_yaml(config.resolved));
  const TrainConfig again = load_train_config(folder.path() / "config.yaml", {});
  CHECK(again.resolved == config.resolved);
  CHECK(again.stages.at(0).settings.at("kl") == 0.5);
}

TEST_CASE("train config: paths of the file are relative to it, those of changes to the working folder") {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "conf");
  const std::filesystem::path file = folder.path() / "conf/a.yaml";
  const auto write = [&](const std::string& text) { write_file_atomically(file.string(), text); };
  write("output: ../runs/a\npolicy: models/agon-tiny\nsources: [{suite: charts}]\n");
  const TrainConfig config = load_train_config(file, {});
  CHECK(config.output == folder.path() / "runs/a");
  CHECK(config.policy == "models/agon-tiny");  // the one that comes with agon
  CHECK(config.resolved["output"] == (folder.path() / "runs/a").string());
  CHECK(warnings_of(config).empty());
  CHECK(load_train_config(file, std::vector<std::string>{"output=runs/b"}).output == "runs/b");
  // As before version 0.2: a path that exists only in the working folder is used, with a warning.
  const std::string here = "config_test_folder";
  std::filesystem::create_directory(here);
  write("output: " + here + "\nsources: [{suite: charts}]\n");
  const TrainConfig old = load_train_config(file, {});
  std::filesystem::remove(here);
  CHECK(old.output == here);
  REQUIRE(warnings_of(old).size() == 1);
  CHECK_THAT(warnings_of(old)[0], Catch::Contains("Paths in a config are relative to its file now"));
}
