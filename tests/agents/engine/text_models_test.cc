// Compares text models of every architecture with transformers (script/golden.d/text_models.py).
#include <catch2/catch.hpp>
#include <cmath>

#include "agents/engine/local_policy.h"
#include "agents/hub/architecture.h"
#include "core/error.h"
#include "core/text.h"
#include "golden/completion.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;
using Catch::Contains;

namespace {

const std::string kGolden = agon::test::golden_path("text_models");

Json golden_models() { return Json::parse(read_file(kGolden + "/expected.json"))["models"]; }

CompletionRequest greedy_request(const Json& example) {
  CompletionRequest request{{Message::of(Role::user, example["prompt"].get<std::string>())}, {}, 1, {}};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 40;
  return request;
}

// Mean difference between the policy's log-probabilities of the golden ids and the golden ones.
double mean_score_difference(Policy& policy, const CompletionRequest& request, const Json& expected) {
  const ScoreRequest given{request.messages, expected["ids"].get<std::vector<std::int32_t>>(), 1.0};
  const std::vector<float> logprobs = policy.score({&given, 1}).at(0).logprobs;
  const auto exact = expected["logprobs"].get<std::vector<double>>();
  double difference = 0;
  for (std::size_t t = 0; t < exact.size(); ++t)
    difference += std::abs(static_cast<double>(logprobs[t]) - exact[t]) / static_cast<double>(exact.size());
  return difference;
}

}  // namespace

TEST_CASE("text models: greedy completions and log-probabilities equal transformers' generate") {
  const Json models = golden_models();
  for (const auto& [name, cases] : models.items()) {
    const auto policy =
        make_local_policy(kGolden + "/" + name, {.threads = 2, .backend = {.memory = {.weights = WeightKind::f32}}});
    CHECK_FALSE(policy->capabilities().images);
    for (const Json& expected : cases) {
      CAPTURE(name, expected["prompt"]);
      const CompletionRequest request = greedy_request(expected);
      const Completion completion = policy->complete({&request, 1}).at(0);
      agon::test::check_golden_completion(*policy, request, completion, expected);
    }
  }
}

TEST_CASE("text models: a GGUF file gives what the hub's folder gives") {
  for (const char* name : {"qwen2", "qwen3", "llama", "llama3"}) {
    const auto folder = make_local_policy(kGolden + "/" + name, {.threads = 1});
    const auto file = make_local_policy(kGolden + "/" + name + ".gguf", {.threads = 1});
    const Json examples = golden_models()[name];
    for (const Json& example : examples) {
      CAPTURE(name, example["prompt"]);
      const CompletionRequest request = greedy_request(example);
      const Completion expected = folder->complete({&request, 1}).at(0),
                       completion = file->complete({&request, 1}).at(0);
      CHECK(completion.prompt_tokens == expected.prompt_tokens);
      CHECK(completion.token_ids == expected.token_ids);
      CHECK(completion.text == expected.text);
      REQUIRE(completion.logprobs.size() == expected.logprobs.size());
      for (std::size_t t = 0; t < expected.logprobs.size(); ++t)  // Llama 3's position factors are rounded
        CHECK(completion.logprobs[t] ==
              Approx(expected.logprobs[t]).epsilon(0).margin(name == std::string("llama3") ? 1e-4 : 0));
    }
  }
}

TEST_CASE("text models: weights of fewer bits are near, and scoring equals sampling to the last bit") {
  const Json models = golden_models();
  for (const auto& [name, cases] : models.items())
    for (const auto& [kind, margin] : std::vector<std::pair<WeightKind, double>>{
             {WeightKind::bf16, 0.05}, {WeightKind::q8, 0.08}, {WeightKind::q4, 0.8}}) {
      const auto policy =
          make_local_policy(kGolden + "/" + name, {.threads = 2, .backend = {.memory = {.weights = kind}}});
      for (const Json& expected : cases) {
        CAPTURE(name, static_cast<int>(kind), expected["prompt"]);
        const CompletionRequest request = greedy_request(expected);
        const double difference = mean_score_difference(*policy, request, expected);
        CHECK(difference < margin);
        CHECK(difference > 0);
        agon::test::check_scored_alike(*policy, request, policy->complete({&request, 1}).at(0));
      }
    }
}

TEST_CASE("text models: keys and values of fewer bits are near, and scoring equals sampling to the last bit") {
  const Json models = golden_models();
  for (const auto& [name, cases] : models.items())
    for (const auto& [keys, margin] :
         {std::pair(kernels::KeyType::bf16, 0.02), std::pair(kernels::KeyType::q8, 0.02)}) {
      const auto policy = make_local_policy(
          kGolden + "/" + name, {.threads = 2, .backend = {.memory = {.weights = WeightKind::f32, .keys = keys}}});
      for (const Json& expected : cases) {
        CAPTURE(name, static_cast<int>(keys), expected["prompt"]);
        const CompletionRequest request = greedy_request(expected);
        CHECK(mean_score_difference(*policy, request, expected) < margin);
        agon::test::check_scored_alike(*policy, request, policy->complete({&request, 1}).at(0));
      }
    }
}

TEST_CASE("text models: a picture is refused") {
  const auto policy = make_local_policy(kGolden + "/qwen3", {.threads = 1});
  CompletionRequest request = greedy_request(golden_models()["qwen3"][0]);
  request.messages[0].parts.push_back(Part::of(Image(28, 28, std::vector<std::uint8_t>(28 * 28 * 3))));
  CHECK_THROWS_WITH(policy->complete({&request, 1}), Contains("this model (qwen3) reads only text"));
}
