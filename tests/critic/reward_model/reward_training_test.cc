#include "agents/learn/loop/reward_learner.h"
#include "agents/learn/network/reward_network.h"  // LibTorch before Catch: each has a CHECK

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/text.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/judge_training.h"
#include "critic/reward_model/training.h"
#include "fixtures/reward.h"
#include "record/run_database.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using agon::test::kRewardBase;
using agon::test::reward_question;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

// Sets in which the response that says "good" is the best one.
fs::path good_and_bad(const fs::path& folder, int sets) {
  Rng rng(1);
  std::vector<Preference> preferences;
  for (int i = 0; i < sets; ++i) {
    Preference one{std::to_string(i), i % 3 ? "many" : "few", reward_question("Case " + std::to_string(i)), {}, {}};
    const int best = rng.between(0, 2);
    for (int k = 0; k < 3; ++k) {
      one.responses.push_back(std::string(k == best ? "good " : "bad ") + static_cast<char>('a' + rng.between(0, 9)));
      one.rank.push_back(k == best ? 1 : 2);
    }
    preferences.push_back(std::move(one));
  }
  write_preferences(folder / "sets.jsonl", preferences);
  return folder / "sets.jsonl";
}

RewardTrainingConfig training_config(const test::TempFolder& folder, const std::string& name, const fs::path& data) {
  RewardTrainingConfig config;
  config.output = folder / name;
  config.data = {data};
  config.network.base = kRewardBase;
  config.network.inner = 64;
  config.network.lora.rank = 4;
  config.epochs = 3;
  config.batch = 8;
  config.learning_rate = 5e-3;
  config.checkpoint_steps = 4;
  config.threads = 1;
  config.source = {{"name", "test"}};
  return config;
}

}  // namespace

TEST_CASE("train-rm: every loss learns what is better, and the card tells how", "[long]") {
  const test::TempFolder folder;
  const fs::path data = good_and_bad(folder.path(), 120);
  for (std::size_t i = 0; i < 3; ++i) {
    RewardTrainingConfig config = training_config(folder, agents::ranking_loss_names()[i], data);
    config.loss = static_cast<agents::RankingLoss>(i);
    config.network.joint = i != 1;
    config.held_out = 0.2;
    config.epochs = 6;
    const Json notes = train_reward_model(config, false);
    CHECK(notes.at("held_out").at("n") == 24);
    CHECK(notes.at("held_out").at("best_of_n").get<double>() > 0.9);
    CHECK(notes.at("slope").get<double>() > 0);
    const auto model = open_reward_model(config.output);
    const Candidates set{reward_question("Case 5"), {"bad a", "good b", "bad c"}};
    const std::vector<double> scores = model->score(std::span(&set, 1)).at(0);
    CHECK(scores[1] > std::max(scores[0], scores[2]));
    const std::string card = read_file((config.output / "README.md").string());
    CHECK(card.find("| all | 24 |") != std::string::npos);
    CHECK(!fs::exists(config.output / "checkpoint"));
  }
}

TEST_CASE("train-rm: stopped and begun again it ends where it would have") {
  const test::TempFolder folder;
  const fs::path data = good_and_bad(folder.path(), 48);
  train_reward_model(training_config(folder, "whole", data), false);
  RewardTrainingConfig config = training_config(folder, "cut", data);
  CHECK(train_reward_model(config, true).is_null());  // stopped at once, after a checkpoint
  CHECK(!train_reward_model(config, false).is_null());
  CHECK(read_file((folder / "whole/adapter_model.safetensors").string()) ==
        read_file((folder / "cut/adapter_model.safetensors").string()));
  CHECK(read_file((folder / "whole/reward_head.safetensors").string()) ==
        read_file((folder / "cut/reward_head.safetensors").string()));
  // Threads, the interval of checkpoints and the output folder may differ in a resumed training.
  config.source.update({{"threads", 2}, {"checkpoint_steps", 1}, {"output", "elsewhere"}});
  CHECK(!train_reward_model(config, false).is_null());
  config.source["seed"] = 2;
  CHECK_THROWS_WITH(train_reward_model(config, false), Contains("of another training run"));
  // A checkpoint of other data is refused.
  RewardTrainingConfig other = training_config(folder, "other", data);
  CHECK(train_reward_model(other, true).is_null());
  good_and_bad(folder.path(), 49);
  CHECK_THROWS_WITH(train_reward_model(other, false), Contains("of another training run"));
}

TEST_CASE("train-rm: a judge's folder has a card") {
  const test::TempFolder folder;
  RewardTrainingConfig config = training_config(folder, "judge", good_and_bad(folder.path(), 8));
  config.judge = JudgeForm::choice;
  config.epochs = 2;
  const Json notes = train_judge(config, false);
  CHECK((notes.at("samples") == 16 && notes.at("sets") == 8 && notes.at("steps") == 2));
  CHECK_FALSE(fs::exists(config.output / "checkpoint"));
  const std::string card = read_file((config.output / "README.md").string());
  CHECK_THAT(card, Contains("--choose . ") && Contains("16 lessons on 8 sets in 2 steps") && Contains("name: test"));
}

TEST_CASE("train-rm: a choice among more responses than there are letters is refused, with the set") {
  const test::TempFolder folder;
  Json set{{"id", "the long one"}, {"prompt", "Which?"}, {"responses", Json::array()}, {"rank", Json::array()}};
  for (int i = 0; i < 27; ++i) {
    set["responses"].push_back(std::to_string(i));
    set["rank"].push_back(i + 1);
  }
  const fs::path data = folder / "many.jsonl";
  write_file_atomically(data.string(), set.dump() + "\n");
  RewardTrainingConfig config = training_config(folder, "judge", data);
  config.judge = JudgeForm::choice;
  CHECK_THROWS_WITH(train_judge(config, false), Contains("set 'the long one'") && Contains("27 responses"));
  CHECK_FALSE(fs::exists(config.output));
}

TEST_CASE("train-rm: a finished judge is not trained again, and not taken for another") {
  const test::TempFolder folder;
  RewardTrainingConfig config = training_config(folder, "judge", good_and_bad(folder.path(), 8));
  config.judge = JudgeForm::pairs;
  const Json notes = train_judge(config, false);
  const auto written = fs::last_write_time(config.output / "model.safetensors");
  config.source["checkpoint_steps"] = 7;
  CHECK(train_judge(config, false) == notes);
  CHECK(fs::last_write_time(config.output / "model.safetensors") == written);
  config.source["seed"] = 2;
  CHECK_THROWS_WITH(train_judge(config, false), Contains("judge.json is of another training run"));
  write_file_atomically((config.output / "judge.json").string(), "{");
  CHECK_THROWS_WITH(train_judge(config, false), Contains("judge.json is damaged"));
}

TEST_CASE("train-rm: notes of a finished model that miss a figure are named") {
  const test::TempFolder folder;
  const RewardTrainingConfig config = training_config(folder, "rm", good_and_bad(folder.path(), 8));
  train_reward_model(config, false);
  const std::string file = (config.output / "reward_model.json").string();
  Json json = Json::parse(read_file(file));
  json["notes"].erase("held_out");
  write_file_atomically(file, json.dump());
  CHECK_THROWS_WITH(train_reward_model(config, false), Contains("have no 'held_out'"));
}

TEST_CASE("train-rm: a damaged checkpoint and an output that cannot be written are named") {
  const test::TempFolder folder;
  const fs::path data = good_and_bad(folder.path(), 8);
  const RewardTrainingConfig config = training_config(folder, "rm", data);
  CHECK(train_reward_model(config, true).is_null());
  const std::string state = (config.output / "checkpoint/state.json").string();
  for (const char* damaged : {"", "{", "[]", "{}", R"({"step": "two"})", R"({"step": -1})"}) {
    write_file_atomically(state, damaged);
    CHECK_THROWS_WITH(train_reward_model(config, false), Contains("state.json: the checkpoint is damaged"));
  }
  write_file_atomically(state, R"({"step": 0, "training": 7})");
  CHECK_THROWS_WITH(train_reward_model(config, false), Contains("of another training run"));
  write_file_atomically((folder / "file").string(), "");
  RewardTrainingConfig below = training_config(folder, "file/rm", data);
  CHECK_THROWS_WITH(train_reward_model(below, false), Contains("file/rm: the folder cannot be made"));
  below = training_config(folder, "file", data);
  CHECK_THROWS_WITH(train_reward_model(below, false), Contains("file"));
  below.judge = JudgeForm::pairs;
  CHECK_THROWS_AS(train_judge(below, false), Error);
}

TEST_CASE("train-rm: a folder in which another process trains is refused, a judge's too") {
  const test::TempFolder folder;
  RewardTrainingConfig config = training_config(folder, "rm", good_and_bad(folder.path(), 8));
  fs::create_directories(config.output);
  const record::FolderLock lock(config.output);
  CHECK_THROWS_WITH(train_reward_model(config, false), Contains("another process"));
  config.judge = JudgeForm::pairs;
  CHECK_THROWS_WITH(train_judge(config, false), Contains("another process"));
}

TEST_CASE("train-rm: imitation adds the loss of the best response's tokens, and they become likelier") {
  agents::RewardNetworkSettings settings;
  settings.base = kRewardBase;
  settings.inner = 32;
  settings.lora.rank = 4;
  const agents::RankedResponses set{
      reward_question(), {"two", "three", "a longer response", "7"}, {2, 1, 3, 4}, {1, 0, 2, 3}};
  agents::RewardNetwork network(settings, 1);
  const agents::ResponseSet encoded = network.encode(set.messages, set.responses);
  const double best = network.scores(std::span(&encoded, 1), true).log_likelihoods[1].item<double>();
  const auto loss_at_first = [&](double imitation) {
    return agents::RewardLearner(settings, {.imitation = imitation, .threads = 1}).step({&set, 1}, 0.01).loss;
  };
  const double expected = -0.5 * best / static_cast<double>(encoded.responses[1].size());
  CHECK(loss_at_first(0.5) - loss_at_first(0) == Approx(expected).margin(1e-5));
  agents::RewardLearner learner(settings, {.imitation = 1, .threads = 1});
  for (int step = 0; step < 5; ++step) learner.step({&set, 1}, 0.01);
  const test::TempFolder folder;
  learner.network().save(folder.path(), {});
  const double after =
      agents::RewardNetwork(folder.path()).scores(std::span(&encoded, 1), true).log_likelihoods[1].item<double>();
  CHECK(after > best + 1);
}

TEST_CASE("train-rm: weights that are not finite are told before they are saved") {
  agents::RewardNetworkSettings settings;
  settings.base = kRewardBase;
  settings.inner = 8;
  settings.lora.rank = 4;
  const agents::RewardLearner learner(settings, {.threads = 1});
  CHECK_NOTHROW(learner.require_finite());
  const at::NoGradGuard no_grad;
  learner.network().parameters().front().view({-1})[0] = std::nan("");
  CHECK_THROWS_WITH(learner.require_finite(), Contains("a weight is not finite"));
}

TEST_CASE("train-rm: sets of one rank teach nothing, and only they are no data") {
  const test::TempFolder folder;
  write_preferences(folder / "ties.jsonl", {{"t", "c", reward_question(), {"a", "b"}, {1, 1}}});
  CHECK_THROWS_WITH(train_reward_model(training_config(folder, "rm", folder / "ties.jsonl"), false),
                    Contains("nothing to train on"));
  write_preferences(folder / "best.jsonl", {{"t", "c", reward_question(), {"a", "b"}, {1, 1}},
                                            {"u", "c", reward_question(), {"a", "b", "c"}, {1, 1, 2}}});
  const Json notes = train_reward_model(training_config(folder, "rm", folder / "best.jsonl"), false);
  CHECK(notes.at("passed_over") == 1);
  CHECK(notes.at("ties_drawn") == 3);  // one set, three epochs
  using enum agents::RankingLoss;
  const std::vector<int> two_best = {1, 1, 2}, two_last = {2, 1, 2}, none = {1, 2, 3};
  CHECK((agents::draws_ties(cross_entropy, two_best) && !agents::draws_ties(cross_entropy, two_last)));
  CHECK((agents::draws_ties(plackett_luce, two_best) && agents::draws_ties(plackett_luce, two_last)));
  CHECK((!agents::draws_ties(plackett_luce, none) && !agents::draws_ties(bradley_terry, two_best)));
}

TEST_CASE("train-rm: a set that passes the context is named before the first step") {
  const test::TempFolder folder;
  std::string longer;
  for (int i = 0; i < 3000; ++i) longer += "word ";
  write_preferences(folder / "long.jsonl", {{"the long one", "c", reward_question(), {longer, "b"}, {1, 2}}});
  CHECK_THROWS_WITH(train_reward_model(training_config(folder, "rm", folder / "long.jsonl"), false),
                    Contains("set 'the long one'"));
}

TEST_CASE("judge: lessons show the truth in a drawn order") {
  const Preference preference{
      "a", "b", {Message::of(Role::user, "Which?")}, {"good", "bad", "worse", "bad too"}, {1, 2, 3, 2}};
  Rng rng(1);
  std::map<std::string, int> pairs, choices;
  for (int i = 0; i < 400; ++i) {
    const agents::OfflineSample pair = pair_lesson(preference, rng), choice = choice_lesson(preference, rng);
    CHECK((pair.imitated && choice.imitated));
    ++pairs[pair.response];
    ++choices[choice.response];
    const std::string shown = choice.messages.back().parts[1 + static_cast<std::size_t>(choice.response[2] - 'A')].text;
    CHECK_THAT(shown, Catch::EndsWith(":\ngood"));
    const auto& parts = pair.messages.back().parts;
    const bool first = parts[1].text.ends_with(":\ngood") || parts[2].text.ends_with(":\nworse");
    CHECK(pair.response == (first ? "[[A]]" : "[[B]]"));
  }
  CHECK((pairs.size() == 2 && pairs["[[A]]"] > 150 && pairs["[[B]]"] > 150));
  CHECK((choices.size() == 4 && std::ranges::all_of(choices, [](const auto& one) { return one.second > 60; })));
}
