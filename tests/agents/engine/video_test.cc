// Compares prompts with videos in the engine with transformers (script/golden.d/video.py).
#include <catch2/catch.hpp>
#include <filesystem>

#include "agents/engine/local_policy.h"
#include "agents/hub/model_folder.h"
#include "core/error.h"
#include "core/file.h"
#include "golden/checkpoint.h"
#include "golden/completion.h"
#include "golden/engine.h"
#include "golden/video.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::golden_videos;
using agon::test::GoldenCheckpoint;
using agon::test::TempFolder;
using agon::test::video_of;
using Catch::Contains;

namespace {

const std::pair<const char*, const char*> kModels[] = {
    {"qwen2_vl", "qwen_vl"}, {"uneven_windows", "qwen2_5_vl"}, {"qwen3_vl", "qwen_vl"}};

// The model with agon's own template, which places videos, and the settings of an example.
std::filesystem::path folder_of(const Json& example, const TempFolder& scratch) {
  const std::filesystem::path folder = scratch / "model";
  std::filesystem::copy(test::golden_path(example["model"].get<std::string>()), folder);
  write_file_atomically((folder / "chat_template.jinja").string(), ChatTemplate::plain_jinja());
  write_file_atomically((folder / "video_preprocessor_config.json").string(), example["settings"].dump());
  return folder;
}

Message question_of(const Json& example) {
  Message question{Role::user, {}, {}, {}};
  const int patch = example["patch_size"];
  for (const Json& part : example["parts"])
    question.parts.push_back(part.is_string()           ? Part::of(part.get<std::string>())
                             : part.contains("picture") ? Part::of(test::golden_frame(4 * patch, 4 * patch, 9))
                                                        : Part::of(video_of(part)));
  return question;
}

EncodedPrompt encode(const Message& question, const ModelFolder& folder) {
  return encode_prompt({question}, {}, folder.chat, *folder.tokenizer, folder.images, folder.config);
}

}  // namespace

TEST_CASE("videos: positions equal get_rope_index") {
  for (const auto& [name, set] : kModels) {
    CAPTURE(name);
    test::check_positions(golden_checkpoint(name, set, "video"));
  }
}

TEST_CASE("videos: scores equal transformers' log-probabilities") {
  for (const auto& [name, set] : kModels) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(name, set, "video");
    test::check_scores(*test::engine_of(model, {.threads = 2}), model);
  }
}

TEST_CASE("videos: messages become the ids and positions of transformers' processors") {
  for (const Json& example : golden_videos()["prompts"]) {
    CAPTURE(example["model"], example["parts"].dump());
    const TempFolder scratch;
    const ModelFolder folder = open_model_folder(folder_of(example, scratch));
    const EncodedPrompt prompt = encode(question_of(example), folder);
    CHECK(prompt.ids == example["prompt_ids"].get<std::vector<std::int32_t>>());
    std::int32_t next = 0;
    CHECK(mrope_positions(prompt.ids, test::grids_of(prompt), folder.config, &next) ==
          example["positions"].get<std::vector<std::array<std::int32_t, 3>>>());
    CHECK(next == example["next"].get<std::int32_t>());
  }
}

TEST_CASE("videos: greedy completions equal transformers' generate, and are scored alike") {
  for (const Json& example : golden_videos()["prompts"]) {
    CAPTURE(example["model"], example["parts"].dump());
    const TempFolder scratch;
    const auto policy = make_local_policy(folder_of(example, scratch),
                                          {.threads = 2, .backend = {.memory = {.weights = WeightKind::f32}}});
    CompletionRequest request{{question_of(example)}, {}, 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = static_cast<int>(example["ids"].size());
    const Completion completion = policy->complete({&request, 1}).at(0);
    test::check_golden_completion(*policy, request, completion, example);
  }
}

TEST_CASE("videos: prompts that share a start answer together as alone") {
  const Json& example = golden_videos()["prompts"].back();
  const TempFolder scratch;
  const auto folder = folder_of(example, scratch);
  std::vector<CompletionRequest> requests;
  for (const char* last : {"Which sum?", "Which bar?", "Which sum?"}) {
    Message question = question_of(example);
    question.parts.push_back(Part::of(last));
    requests.push_back({{question}, {}, 1, {}});
    requests.back().sampling.max_tokens = 8;
  }
  const auto together = make_local_policy(folder, {.threads = 2})->complete(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Completion alone = make_local_policy(folder, {.threads = 1})->complete({&requests[i], 1}).at(0);
    CHECK(together.at(i).token_ids == alone.token_ids);
    CHECK(together[i].logprobs == alone.logprobs);  // bit for bit
  }
}

TEST_CASE("videos: what a model cannot take is refused before memory goes into it") {
  const Json& example = golden_videos()["prompts"].front();  // Qwen2.5-VL
  const TempFolder scratch;
  ModelFolder folder = open_model_folder(folder_of(example, scratch));
  const auto refuses = [&](const Json& video, const std::string& why) {
    CHECK_THROWS_WITH(encode({Role::user, {Part::of(video_of(video))}, {}, {}}, folder), Contains(why));
  };
  folder.images.video.samples = false;
  refuses({{"frames", 300}, {"width", 56}, {"height", 56}}, "300 frames of a video of 56 x 56");
  refuses({{"frames", 8}, {"width", 28}, {"height", 28}, {"fps", 0.01}}, "positions apart");
  refuses({{"frames", 2}, {"width", 1000}, {"height", 2}}, "200 times");
  folder.config.video_token_id = 5;
  refuses({{"frames", 2}, {"width", 28}, {"height", 28}}, "video_token_id is 5");
  folder.config.vision.reset();
  refuses({{"frames", 2}, {"width", 28}, {"height", 28}}, "has a video, and this model (qwen2_5_vl) reads only text");
}
