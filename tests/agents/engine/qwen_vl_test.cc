// Qwen2-VL and Qwen3-VL in the engine against transformers (script/golden.d/qwen_vl.py).
#include <cmath>

#include "agents/engine/compute_pool.h"
#include "agents/engine/engine.h"
#include "agents/engine/local_policy.h"
#include "agents/engine/vision_encoder.h"
#include "agents/hub/pictures/place_taps.h"
#include "golden_checkpoint.h"
#include "kernel_testing.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;

namespace {

const std::string kQwenGolden = agon::test::golden_path("qwen_vl/generation");

GoldenCheckpoint qwen_checkpoint(const std::string& name) { return golden_checkpoint(name, "qwen_vl"); }
const char* const kNames[] = {"qwen2_vl", "qwen3_vl", "qwen3_vl_biased"};

std::unique_ptr<Engine> engine_that_sees(const GoldenCheckpoint& model) {
  return std::make_unique<Engine>(load_engine_weights(model.folder, model.config, WeightKind::f32), model.config,
                                  std::make_shared<agon::test::LetterTokenizer>(), EngineOptions{.threads = 2});
}

// log softmax of transformers' logits at a place of a row.
double golden_logprob(const GoldenCheckpoint& model, int row, std::size_t place, std::int32_t id) {
  const auto logits = model.values<float>("logits");
  const auto size = static_cast<std::size_t>(model.config.text.vocab_size);
  const float* const at = logits.data() + (static_cast<std::size_t>(row * model.columns) + place) * size;
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) total += std::exp(static_cast<double>(at[i]));
  return static_cast<double>(at[id]) - std::log(total);
}

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
    const GoldenCheckpoint model = qwen_checkpoint(name);
    const EngineWeights weights = load_engine_weights(model.folder, model.config, WeightKind::f32);
    std::vector<float> all;
    for (const auto& image : model.images()) {
      const auto embeddings = encode_image(weights.vision, *model.config.vision, *image, {});
      all.insert(all.end(), embeddings.begin(), embeddings.end());
      ComputePool threads(3);
      const auto again = encode_image(weights.vision, *model.config.vision, *image, threads.parallel());
      CHECK(agon::test::same_bits(again.data(), embeddings.data(), embeddings.size()));
    }
    agon::test::check_close(all, model.values<float>("images"), 1e-4, 1e-4);
  }
}

TEST_CASE("Qwen2-VL and Qwen3-VL: positions equal get_rope_index") {
  for (const char* name : kNames) {
    CAPTURE(name);
    const GoldenCheckpoint model = qwen_checkpoint(name);
    const auto expected = model.values<std::int64_t>("positions");  // [3, B, S]
    for (int row = 0; row < model.rows; ++row) {
      const EncodedPrompt prompt = model.prompt(row);
      std::vector<ImageGrid> grids;
      for (const auto& image : prompt.images) grids.push_back(image->grid);
      const auto positions = mrope_positions(prompt.ids, grids, model.config, nullptr);
      for (std::size_t i = 0; i < positions.size(); ++i)
        for (int axis = 0; axis < 3; ++axis)
          CHECK(positions[i][static_cast<std::size_t>(axis)] ==
                expected[static_cast<std::size_t>((axis * model.rows + row) * model.columns) + i]);
    }
  }
}

TEST_CASE("Qwen2-VL and Qwen3-VL: scores equal transformers' log-probabilities") {
  for (const char* name : kNames) {
    const GoldenCheckpoint model = qwen_checkpoint(name);
    const auto engine = engine_that_sees(model);
    for (int row = 0; row < model.rows; ++row) {
      CAPTURE(name, row);
      const EncodedPrompt whole = model.prompt(row);
      const std::size_t cut = whole.ids.size() - 4;  // behind the pictures
      const std::vector<std::int32_t> rest(whole.ids.begin() + static_cast<std::ptrdiff_t>(cut), whole.ids.end());
      const auto scores = engine->score({{model.prompt(row, cut), rest, 1.0}});
      REQUIRE(scores.at(0).logprobs.size() == rest.size());
      for (std::size_t i = 0; i < rest.size(); ++i)
        CHECK(static_cast<double>(scores[0].logprobs[i]) ==
              Approx(golden_logprob(model, row, cut + i - 1, rest[i])).margin(1e-4));
    }
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
      CHECK(completion.prompt_tokens == static_cast<int>(expected["prompt_ids"].size()));
      CHECK(completion.token_ids == expected["ids"].get<std::vector<std::int32_t>>());
      const auto logprobs = expected["logprobs"].get<std::vector<double>>();
      REQUIRE(completion.logprobs.size() == logprobs.size());
      for (std::size_t t = 0; t < logprobs.size(); ++t)
        CHECK(static_cast<double>(completion.logprobs[t]) == Approx(logprobs[t]).margin(1e-4));
      const ScoreRequest again{request.messages, completion.token_ids, 1.0};
      CHECK(policy->score({&again, 1}).at(0).logprobs == completion.logprobs);
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
