// Compares Qwen2-VL and Qwen3-VL in the engine with transformers (script/golden.d/qwen_vl.py).
#include <array>
#include <catch2/catch.hpp>

#include "agents/engine/local_policy.h"
#include "agents/hub/pictures/place_taps.h"
#include "golden/checkpoint.h"
#include "golden/completion.h"
#include "golden/engine.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;

namespace {

const std::string kQwenGolden = agon::test::golden_path("qwen_vl/generation");

GoldenCheckpoint qwen_checkpoint(const std::string& name) { return golden_checkpoint(name, "qwen_vl"); }
const char* const kNames[] = {"qwen2_vl", "qwen3_vl", "qwen3_vl_biased"};

Json golden_models() { return Json::parse(read_file(kQwenGolden + "/expected.json"))["models"]; }

CompletionRequest seen_request(const std::string& name, const Json& example) {
  Message question{Role::user, {}, {}, {}};
  for (const Json& picture : example["pictures"])
    question.parts.push_back(Part::of(load_image(fmt::format("{}/{}-{}.png", kQwenGolden, name, picture.get<int>()))));
  question.parts.push_back(Part::of(example["prompt"].get<std::string>()));
  CompletionRequest request{{question}, {}, 1, {}};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 24;
  return request;
}

}  // namespace

TEST_CASE("Qwen2-VL and Qwen3-VL: the vision tower equals transformers, on any number of threads") {
  for (const char* name : kNames) {
    CAPTURE(name);
    agon::test::check_vision_tower(qwen_checkpoint(name));
  }
}

TEST_CASE("Qwen2-VL and Qwen3-VL: positions equal get_rope_index") {
  for (const char* name : kNames) {
    CAPTURE(name);
    agon::test::check_positions(qwen_checkpoint(name));
  }
}

TEST_CASE("Qwen2-VL and Qwen3-VL: scores equal transformers' log-probabilities") {
  for (const char* name : kNames) {
    CAPTURE(name);
    const GoldenCheckpoint model = qwen_checkpoint(name);
    agon::test::check_scores(*agon::test::engine_of(model, {.threads = 2}), model);
  }
}

TEST_CASE("Qwen2-VL and Qwen3-VL: greedy completions about pictures equal transformers' generate") {
  const Json models = golden_models();
  for (const auto& [name, examples] : models.items()) {
    const auto policy = make_local_policy(kQwenGolden + "/" + name,
                                          {.threads = 2, .backend = {.memory = {.weights = WeightKind::f32}}});
    CHECK(policy->capabilities().images);
    for (const Json& expected : examples) {
      CAPTURE(name, expected["prompt"]);
      const CompletionRequest request = seen_request(name, expected);
      const Completion completion = policy->complete({&request, 1}).at(0);
      agon::test::check_golden_completion(*policy, request, completion, expected);
    }
  }
}

TEST_CASE("Qwen3-VL: prompts that share pictures answer together as alone") {
  const std::string folder = kQwenGolden + "/qwen3_vl";
  std::vector<CompletionRequest> requests;
  for (const Json& pictures : {Json{1, 0}, Json{1, 0}, Json{1, 1}})
    for (const char* prompt : {"Which bar?", "Which sum?"})
      requests.push_back(seen_request("qwen3_vl", {{"pictures", pictures}, {"prompt", prompt}}));
  const auto together = make_local_policy(folder, {.threads = 2})->complete(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Completion alone = make_local_policy(folder, {.threads = 1})->complete({&requests[i], 1}).at(0);
    CHECK(together.at(i).token_ids == alone.token_ids);
    CHECK(together[i].logprobs == alone.logprobs);  // bit for bit
  }
  CHECK(together[0].logprobs != together[4].logprobs);
}

TEST_CASE("Qwen3-VL: the corners of a picture have the corners of the learned places") {
  VisionConfig config;
  config.tower = &kQwen3Tower;
  config.position_embeddings = 9;
  const auto taps = place_taps({1, 4, 2}, config);
  REQUIRE(taps.size() == 8);
  CHECK(taps[0].places[0] == 0);
  CHECK(taps[0].weights == std::array<float, 4>{1, 0, 0, 0});
  CHECK(taps[7].places == std::array<std::int64_t, 4>{8, 8, 8, 8});  // past the border
  CHECK(taps[7].weights == std::array<float, 4>{1, 0, 0, 0});
  CHECK(taps[2].places == std::array<std::int64_t, 4>{0, 1, 3, 4});  // row 1 of 4: two thirds of the way to place 1
  CHECK(taps[2].weights[2] == Approx(2.0 / 3));
  CHECK(place_taps({1, 2, 2}, config)[1].places[0] == 2);
}
