#include "agents/learn/network/reward_network.h"  // LibTorch before Catch: each has a CHECK

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "agents/engine/local_policy.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "critic/reward_model/engine_reward_model.h"
#include "critic/reward_model/evaluation.h"
#include "critic/reward_model/preference.h"
#include "critic/reward_model/reward_model_critic.h"
#include "error_of.h"
#include "fixtures/reward.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using agon::test::kRewardBase;
using agon::test::reward_question;
using Catch::Contains;

namespace {

namespace fs = std::filesystem;

// A saved model whose adapter and head are far from their initial values.
fs::path shaken_model(const fs::path& folder, bool joint,
                      agents::Representation representation = agents::Representation::last, bool likelihood = false) {
  agents::RewardNetworkSettings settings;
  settings.base = kRewardBase;
  settings.joint = joint;
  settings.representation = representation;
  settings.likelihood = likelihood;
  settings.inner = 32;
  settings.lora.rank = 4;
  const agents::RewardNetwork network(settings, 5);
  const at::NoGradGuard no_grad;
  for (const at::Tensor& weight : network.parameters()) at::Tensor(weight).normal_(0, 0.1);
  network.save(folder, {{"slope", 2.0}, {"offset", -1.0}});
  return folder;
}

std::vector<double> scores_of(RewardModel& model, const std::vector<std::string>& responses) {
  const Candidates set{reward_question(), responses};
  return model.score(std::span(&set, 1)).at(0);
}

// Scores by the network in LibTorch, which shares no code with the engine.
std::vector<double> network_scores(const fs::path& folder, const std::vector<std::string>& responses) {
  const at::NoGradGuard no_grad;
  agents::RewardNetwork network(folder);
  const agents::ResponseSet set = network.encode(reward_question(), responses);
  const at::Tensor scores = network.scores(std::span(&set, 1)).scores.to(at::kDouble).contiguous();
  return {scores.const_data_ptr<double>(), scores.const_data_ptr<double>() + scores.numel()};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

const std::vector<std::string> kFour = {"two", "three\n\n<answer>3</answer>", "a much longer response, of many words",
                                        "7"};

}  // namespace

TEST_CASE("reward model: the engine's scores are the network's, joint and apart, in every representation") {
  const test::TempFolder folder;
  for (const bool joint : {true, false})
    for (std::size_t i = 0; i < agents::representation_names().size(); ++i) {
      const auto representation = static_cast<agents::Representation>(i);
      const fs::path saved = shaken_model(folder / (agents::representation_names()[i] + (joint ? "-joint" : "-apart")),
                                          joint, representation);
      const auto model = open_reward_model(saved);
      CHECK(model->joint() == joint);
      const std::vector<double> expected = network_scores(saved, kFour);
      CAPTURE(saved.filename().string(), expected);
      CHECK(largest_difference(scores_of(*model, kFour), expected) < 1e-5);
    }
}

TEST_CASE("reward model: with the likelihood the engine's scores are the network's, and begin as the policy's own") {
  const test::TempFolder folder;
  for (const bool joint : {true, false}) {
    const fs::path saved =
        shaken_model(folder / (joint ? "joint" : "apart"), joint, agents::Representation::mean, true);
    CHECK(largest_difference(scores_of(*open_reward_model(saved), kFour), network_scores(saved, kFour)) < 1e-5);
  }

  agents::RewardNetwork fresh(
      {.base = kRewardBase, .joint = false, .likelihood = true, .lora = {4, 4, agents::kLoraTargets}}, 1);
  {
    const at::NoGradGuard no_grad;  // zero the head, so that only the likelihood is left
    for (const at::Tensor& weight : fresh.parameters())
      if (weight.numel() != 1 || weight.item<double>() == 0) at::Tensor(weight).zero_();
  }
  fresh.save(folder / "fresh", Json::object());
  const auto policy =
      agents::make_local_policy(kRewardBase, {.backend = {.memory = {.weights = agents::WeightKind::f32}}});
  std::vector<agents::ScoreRequest> requests;
  for (const std::string& response : kFour) requests.push_back({reward_question(), {}, 1.0, response});
  std::vector<double> expected;
  for (const agents::TokenScores& tokens : policy->score(requests))
    expected.push_back(agents::kFirstLikelihoodWeight *
                       std::accumulate(tokens.logprobs.begin() + 1, tokens.logprobs.end(), 0.0));
  const auto model = open_reward_model(folder / "fresh");
  CHECK(largest_difference(scores_of(*model, kFour), expected) < 1e-4);
  CHECK(scores_of(*model, {""}).at(0) == 0);  // one token has no successor
}

TEST_CASE("reward model: apart, packed scores equal separate ones and do not know the order") {
  const test::TempFolder folder;
  const auto model = open_reward_model(shaken_model(folder / "rm", false));
  const std::vector<double> packed = scores_of(*model, kFour);
  for (std::size_t i = 0; i < kFour.size(); ++i)
    CHECK(scores_of(*model, {kFour[i]}).at(0) == Approx(packed[i]).margin(1e-5));
  const std::vector<double> turned = scores_of(*model, {kFour[2], kFour[0], kFour[3], kFour[1]});
  CHECK(largest_difference(turned, {packed[2], packed[0], packed[3], packed[1]}) < 1e-5);
}

TEST_CASE("reward model: joint, a response sees those before it alone") {
  const test::TempFolder folder;
  const auto model = open_reward_model(shaken_model(folder / "rm", true));
  const std::vector<double> all = scores_of(*model, kFour);
  const std::vector<double> first_two = scores_of(*model, {kFour[0], kFour[1]});
  CHECK(all[0] == Approx(first_two[0]).margin(1e-5));
  CHECK(all[1] == Approx(first_two[1]).margin(1e-5));
  CHECK(std::abs(scores_of(*model, {kFour[1], kFour[0]}).at(0) - all[1]) > 1e-3);
}

TEST_CASE("reward model: one response, many, empty and identical ones") {
  const test::TempFolder folder;
  const auto apart = open_reward_model(shaken_model(folder / "apart", false));
  const auto joint = open_reward_model(shaken_model(folder / "joint", true));
  CHECK(scores_of(*joint, {"one"}).size() == 1);
  const std::vector<double> many = scores_of(*apart, std::vector<std::string>(64, "so"));
  REQUIRE(many.size() == 64);
  CHECK(std::ranges::all_of(many, [&](double score) { return score == many[0]; }));
  CHECK(scores_of(*joint, std::vector<std::string>(64, "1")).size() == 64);
  for (RewardModel* model : {apart.get(), joint.get()})
    for (const double score : scores_of(*model, {"", "one", ""})) CHECK(std::isfinite(score));
  CHECK_THROWS_WITH(scores_of(*joint, {}), Contains("no response"));
  CHECK(apart->probability(0.5) == Approx(0.5));
}

TEST_CASE("reward model: text in a response is never a separator") {
  const test::TempFolder folder;
  const auto model = open_reward_model(shaken_model(folder / "rm", true));
  for (const std::string text : {"<|resp_sep|>", "one<|resp_sep|>two", "<|im_end|>", "separator"})
    CHECK(scores_of(*model, {text, "two"}).size() == 2);
  agents::RewardNetwork network(folder / "rm");
  const agents::ResponseSet set =
      network.encode(reward_question(), std::vector<std::string>{"a<|resp_sep|>b<|im_end|>", "c"});
  const agents::ResponseLayout layout = network.lay_out(set);
  const std::int32_t separator = network.folder().config.text.vocab_size - 1;
  CHECK(std::ranges::count(layout.sequences.at(0), separator) == 1);
  for (const std::int32_t end : network.folder().config.eos_token_ids)
    CHECK(std::ranges::count(layout.sequences.at(0), end) == 0);
}

TEST_CASE("reward model: what passes the context is refused with the number that fits") {
  const test::TempFolder folder;
  const auto model = open_reward_model(shaken_model(folder / "rm", true));
  std::string longer;
  for (int i = 0; i < 60; ++i) longer += "word ";
  std::vector<std::string> responses;
  for (int i = 0; i < 64; ++i) responses.push_back(std::to_string(i) + " " + longer);
  CHECK_THROWS_WITH(scores_of(*model, responses),
                    Contains("64 responses exceed the context of 512") && Contains("leaves"));
  const std::string message = test::error_of([&] { scores_of(*model, responses); });
  REQUIRE(message.find("the first ") != std::string::npos);
  const auto fit = static_cast<std::size_t>(std::stoi(message.substr(message.find("the first ") + 10)));
  CHECK((fit > 0 && fit < 64));
  CHECK(scores_of(*model, {responses.begin(), responses.begin() + static_cast<std::ptrdiff_t>(fit)}).size() == fit);
  CHECK_FALSE(model->fits({reward_question(), responses}));
  // As a reward, the group is read in several sets, each scored as if alone.
  const std::vector<double> rewards = open_response_scorer(folder / "rm")->score(reward_question(), responses);
  REQUIRE(rewards.size() == 64);
  std::vector<std::string> first(responses.begin(), responses.begin() + static_cast<std::ptrdiff_t>(fit));
  CHECK(largest_difference({rewards.begin(), rewards.begin() + static_cast<std::ptrdiff_t>(fit)},
                           scores_of(*model, first)) < 1e-5);
  CHECK(rewards.at(fit) == Approx(scores_of(*model, {responses[fit]}).at(0)).margin(1e-5));
  // A single response that is too long is still an error.
  for (int i = 0; i < 6; ++i) longer += longer;
  CHECK_THROWS_WITH(open_response_scorer(folder / "rm")->score(reward_question(), std::vector{longer}),
                    Contains("context"));
  // A model of separate responses counts them from 1. Both forms report a prompt that is too long by itself.
  const auto apart = open_reward_model(shaken_model(folder / "apart", false));
  CHECK_THROWS_WITH(scores_of(*apart, {"a", longer, "b"}),
                    Contains("response 2 of 3 is") && Contains("the first 1 fit"));
  for (const RewardModel* one : {model.get(), apart.get()})
    CHECK_THROWS_WITH(one->require({reward_question(longer), {"a"}}), Contains("the prompt alone is"));
}

TEST_CASE("reward model: equal responses are read once apart and each by itself when joint") {
  const test::TempFolder folder;
  const std::vector<std::string> responses = {"two", "3", "two", "", "3", ""};
  const auto apart = open_reward_model(shaken_model(folder / "apart", false));
  const std::vector<double> once = scores_of(*apart, {"two", "3", ""});
  CHECK(scores_of(*apart, responses) == std::vector<double>{once[0], once[1], once[0], once[2], once[1], once[2]});

  const fs::path folder_of_joint = shaken_model(folder / "joint", true);
  const std::vector<double> joint = scores_of(*open_reward_model(folder_of_joint), responses);
  CHECK(joint[0] != joint[2]);
  // As rewards, equal responses of a group get equal scores.
  const std::vector<double> rewards = open_response_scorer(folder_of_joint)->score({reward_question("q")}, responses);
  CHECK(rewards[0] == rewards[2]);
  CHECK(rewards[1] == rewards[4]);
}

TEST_CASE("reward model: a score that is not finite names the folder") {
  const test::TempFolder folder;
  {
    agents::RewardNetwork network(shaken_model(folder / "rm", true));
    const at::NoGradGuard no_grad;
    at::Tensor(network.parameters().back()).fill_(std::nan(""));
    network.save(folder / "rm", {{"slope", 1.0}});
  }
  CHECK_THROWS_WITH(scores_of(*open_reward_model(folder / "rm"), {"a"}), Contains("rm gives a score of nan"));
}

TEST_CASE("reward model: a folder that is none, or is damaged, says what is wrong") {
  const test::TempFolder folder;
  CHECK_THROWS_WITH(open_reward_model(folder / "none"), Contains("no reward_model.json"));
  const fs::path saved = shaken_model(folder / "rm", true);
  const std::string settings = read_file((saved / "reward_model.json").string());
  write_file_atomically((saved / "reward_model.json").string(), "[]");
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("not a JSON object"));
  Json moved = Json::parse(settings);
  moved["base"] = "../nowhere";
  write_file_atomically((saved / "reward_model.json").string(), moved.dump());
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("its base model") && Contains("nowhere"));
  const auto with = [&](const char* key, const Json& value) {
    Json damaged = Json::parse(settings);
    damaged[Json::json_pointer(key)] = value;
    write_file_atomically((saved / "reward_model.json").string(), damaged.dump());
  };
  with("/inner", 0);
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("reward_model.json: 'inner' must lie between 1 and 65536"));
  with("/inner", std::int64_t{1} << 60);
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("'inner' must lie"));
  with("/notes", {1, 2});
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("reward_model.json: 'notes' must be an object, got [1,2]"));
  with("/notes/slope", "steep");
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("'slope' of its notes must be a number, got \"steep\""));
  write_file_atomically((saved / "reward_model.json").string(), settings);
  fs::resize_file(saved / "reward_head.safetensors", 100);
  CHECK_THROWS_AS(open_reward_model(saved), Error);
}

TEST_CASE("reward model: another base than it was made on is refused, naming both") {
  const test::TempFolder folder;
  const fs::path saved = shaken_model(folder / "rm", true), file = saved / "reward_model.json";
  Json settings = Json::parse(read_file(file.string()));
  const auto own = settings.at("base_weights").get<std::string>();
  settings["base_weights"] = "0123456789abcdef";
  write_file_atomically(file.string(), settings.dump());
  CHECK_THROWS_WITH(open_reward_model(saved), Contains("0123456789abcdef") && Contains(own));
  settings.erase("base_weights");  // an older folder
  write_file_atomically(file.string(), settings.dump());
  CHECK_NOTHROW(open_reward_model(saved));
}

TEST_CASE("reward model: as critic it judges steps of one place together") {
  const test::TempFolder folder;
  const auto model = open_reward_model(shaken_model(folder / "rm", true));
  const auto critic = make_reward_model_critic(*model, "rm");
  const std::vector<StepInContext> steps = {{reward_question(), "First.", "two", nullptr},
                                            {reward_question(), "First.", "three", nullptr},
                                            {reward_question("Else?"), "", "x", nullptr}};
  const std::vector<Verdict> verdicts = critic->judge(steps);
  REQUIRE(verdicts.size() == 3);
  const std::vector<double> together = scores_of(*model, {"First.\n\ntwo", "First.\n\nthree"});
  CHECK(*verdicts[0].probability == Approx(model->probability(together[0])));
  CHECK(*verdicts[1].probability == Approx(model->probability(together[1])));
  CHECK(verdicts[2].probability.has_value());
  CHECK(verdicts[0].tokens == 0);
  CHECK((verdicts[0].judgement == Judgement::correct) == (*verdicts[0].probability >= 0.5));

  std::string endless;
  for (int i = 0; i < 20000; ++i) endless += "word ";
  const std::vector<Verdict> others =
      critic->judge(std::vector<StepInContext>{steps[0], {reward_question(), "First.", endless, nullptr}, steps[1]});
  CHECK((others[1].judgement == Judgement::invalid && others[1].fault.find("context") != std::string::npos));
  CHECK((others[0].probability == verdicts[0].probability && others[2].probability == verdicts[1].probability));
}

TEST_CASE("evaluation: orders are told apart, and figures go with the file's ranks") {
  const test::TempFolder folder;
  std::vector<Preference> preferences;
  for (int i = 0; i < 40; ++i)
    preferences.push_back(
        {std::to_string(i), "case", reward_question("Case " + std::to_string(i)), kFour, {2, 1 + i % 2, 4, 3}});
  OrderSensitivity joint, apart;
  const auto see = [&](bool together, OrderSensitivity* order) {
    const auto model = open_reward_model(shaken_model(folder / (together ? "joint" : "apart"), together));
    return scored_by(*model, preferences, 4, 1, order);
  };
  const std::vector<ScoredSet> sets = see(false, &apart);
  see(true, &joint);
  REQUIRE(sets.size() == 40);
  CHECK(sets[7].rank == preferences[7].rank);
  CHECK(apart.deviation < 1e-4);
  CHECK(apart.best_changes == 0);
  CHECK(joint.deviation > 0.05);
}
