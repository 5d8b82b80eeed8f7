#include "agents/hub/convert_checkpoint.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>

#include "agents/engine/local_policy.h"
#include "agents/hub/gguf/vision.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/safetensors.h"
#include "agents/model_fingerprint.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "env/suite.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::string kTextModels = agon::test::golden_path("text_models");

void nothing(std::size_t, std::size_t) {}

std::vector<Completion> answers_of(const fs::path& model, WeightKind kind = WeightKind::f32) {
  const auto policy = make_local_policy(model, {.threads = 1, .backend = {.memory = {.weights = kind}}});
  std::vector<Completion> answers;
  for (const char* prompt : {"What is 12 + 30?", "Name a colour."}) {
    CompletionRequest request{{Message::of(Role::user, prompt)}, {}, 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 30;
    answers.push_back(policy->complete({&request, 1}).at(0));
  }
  return answers;
}

std::vector<Completion> answers_about_pictures(const fs::path& model) {
  const auto policy = make_local_policy(model, {.threads = 1});
  const env::Suite charts("charts", {.level = 2});
  const auto env = charts.make_env();
  std::vector<Completion> answers;
  for (std::uint64_t task = 0; task < 3; ++task) {
    CompletionRequest request{
        {{Role::user, env->reset({env::Split::test, task}).observation.parts, {}, {}}}, {}, 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 40;
    answers.push_back(policy->complete({&request, 1}).at(0));
  }
  return answers;
}

void check_equal(const std::vector<Completion>& a, const std::vector<Completion>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].prompt_tokens == b[i].prompt_tokens);
    CHECK(a[i].token_ids == b[i].token_ids);
    CHECK(a[i].logprobs == b[i].logprobs);
    CHECK(a[i].text == b[i].text);
  }
}

TEST_CASE("convert: there and back, every architecture answers as before") {
  const agon::test::TempFolder scratch;
  for (const char* name : {"qwen2", "qwen3", "llama", "llama3"}) {
    CAPTURE(name);
    const fs::path file = scratch / (std::string(name) + ".gguf"), folder = scratch / name;
    const std::vector<Completion> before = answers_of(kTextModels + "/" + name);
    write_gguf_file(kTextModels + "/" + name, file, "F32", nothing);
    check_equal(answers_of(file), before);
    write_hub_folder(file, folder, "F32", nothing);
    check_equal(answers_of(folder), before);
  }
}

TEST_CASE("convert: the tokens that a template begins with and that end a turn are kept") {
  const agon::test::TempFolder scratch;
  const fs::path model = scratch / "model", file = scratch / "model.gguf", folder = scratch / "folder";
  fs::copy(kTextModels + "/llama", model);
  Json settings = Json::parse(read_file((model / "tokenizer_config.json").string()));
  settings["bos_token"] = "<|endoftext|>";
  write_file_atomically((model / "tokenizer_config.json").string(), settings.dump());
  write_file_atomically((model / "generation_config.json").string(), R"({"eos_token_id": [291, 290, 292]})");
  const std::string jinja = (model / "chat_template.jinja").string();
  write_file_atomically(jinja, "{{ bos_token }}" + read_file(jinja));
  const std::vector<Completion> before = answers_of(model);
  CHECK(before.front().prompt_tokens == answers_of(kTextModels + "/llama").front().prompt_tokens + 1);
  write_gguf_file(model, file, "F32", nothing);
  check_equal(answers_of(file), before);
  write_hub_folder(file, folder, "F32", nothing);
  check_equal(answers_of(folder), before);
  CHECK(open_model_folder(folder).config.eos_token_ids == std::vector<std::int32_t>{291, 290, 292});
  write_file_atomically((model / "generation_config.json").string(), R"({"eos_token_id": [1, 2, 3, 4]})");
  CHECK_THROWS_WITH(write_gguf_file(model, scratch / "x.gguf", "F32", nothing), Contains("4 tokens that end a turn"));
}

TEST_CASE("convert: rows that are no whole blocks, and positions that a file cannot tell, are refused") {
  const agon::test::TempFolder scratch;
  fs::copy(kTextModels + "/llama3", scratch / "other");
  Json config = Json::parse(read_file(scratch / "other/config.json"));
  config["rope_parameters"]["high_freq_factor"] = 8.0;
  write_file_atomically((scratch / "other/config.json").string(), config.dump());
  CHECK_THROWS_WITH(write_gguf_file(scratch / "other", scratch / "x.gguf", "F32", nothing),
                    Contains("high_freq_factor 8"));
  CHECK_THROWS_WITH(write_gguf_file(kTextModels + "/qwen2", scratch / "x.gguf", "Q8_0", nothing),
                    Contains("rows of 48 values"));
  CHECK_FALSE(fs::exists(scratch / "x.gguf"));
}

TEST_CASE("convert: a tensor of a type that holds no weights is refused with its name") {
  const agon::test::TempFolder scratch;
  fs::copy(kTextModels + "/qwen2", scratch / "model");
  std::string weights = read_file(kTextModels + "/qwen2/model.safetensors");
  const std::string type = R"("BF16")";
  weights.replace(weights.find(type, weights.find("model.layers.0.mlp.up_proj.weight")), type.size(), R"("I16" )");
  write_file_atomically((scratch / "model/model.safetensors").string(), weights);
  const auto error = Contains("model.layers.0.mlp.up_proj.weight has the type I16");
  CHECK_THROWS_WITH(write_gguf_file(scratch / "model", scratch / "x.gguf", "F32", nothing), error);
  CHECK_THROWS_WITH(write_hub_folder(scratch / "model", scratch / "x", "F32", nothing), error);
}

TEST_CASE("convert: values that are no numbers, and those beyond half precision, are refused with their tensor") {
  const agon::test::TempFolder scratch;
  fs::copy(kTextModels + "/qwen2", scratch / "model");
  const std::string weights = read_file(kTextModels + "/qwen2/model.safetensors");
  const auto convert = [&](std::string_view value, const char* type) {  // two bytes of BF16, at the end of the file
    write_file_atomically((scratch / "model/model.safetensors").string(),
                          std::string(weights).replace(weights.size() - 2, 2, value));
    write_hub_folder(scratch / "model", scratch / "x", type, nothing);
  };
  CHECK_THROWS_WITH(convert("\xc0\x7f", "F32"), Contains("model.norm.weight has the value nan"));
  CHECK_THROWS_WITH(convert("\x80\x7f", "BF16"), Contains("model.norm.weight has the value inf"));
  CHECK_THROWS_WITH(convert("\x80\x47", "F16"), Contains("model.norm.weight has the value 65536"));
  CHECK_NOTHROW(convert("\x80\x47", "BF16"));
}

TEST_CASE("convert: values of a tower that are no numbers are refused with their tensor") {
  const agon::test::TempFolder scratch;
  const fs::path tiny = agon::test::source_path("models/agon-tiny");
  fs::copy(tiny, scratch / "model");
  const auto files = open_checkpoint_weights(tiny);
  std::map<std::string, TensorView> views(files.at(0)->tensors().begin(), files.at(0)->tensors().end());
  TensorView& view = views.at("visual.patch_embed.proj.weight");
  std::vector<std::uint8_t> damaged(view.bytes.begin(), view.bytes.end());
  std::fill_n(damaged.end() - 4, 4, std::uint8_t{0xff});
  view.bytes = damaged;
  write_safetensors(scratch / "model/model.safetensors", views, {});
  CHECK_THROWS_WITH(write_gguf_file(scratch / "model", scratch / "x.gguf", "Q8_0", nothing),
                    Contains("visual.patch_embed.proj.weight has the value"));
  CHECK_FALSE(fs::exists(scratch / "mmproj-x.gguf"));
}

TEST_CASE("convert: a folder that cannot be written whole is not there") {
  const agon::test::TempFolder scratch;
  set_file_probe([](std::string_view call, const std::string& path) {
    return call == "write" && path.ends_with("model.safetensors") ? ENOSPC : 0;
  });
  CHECK_THROWS_WITH(write_hub_folder(kTextModels + "/qwen2", scratch / "x", "F32", nothing), Contains("No space left"));
  set_file_probe({});
  CHECK(fs::is_empty(scratch.path()));
  fs::create_directory(scratch / "x.half");  // left by a killed process
  write_hub_folder(kTextModels + "/qwen2", scratch / "x/", "F32", nothing);
  CHECK(fs::exists(scratch / "x/config.json"));
  CHECK_FALSE(fs::exists(scratch / "x.half"));
}

TEST_CASE("convert: a model that sees has its tower in a file beside it, and reads pictures as before") {
  const agon::test::TempFolder scratch;
  const fs::path tiny = agon::test::source_path("models/agon-tiny"), file = scratch / "tiny.gguf";
  write_gguf_file(tiny, file, "F32", nothing);
  CHECK(fs::exists(scratch / "mmproj-tiny.gguf"));
  const std::vector<Completion> before = answers_about_pictures(tiny);
  check_equal(answers_about_pictures(file), before);
  check_equal(answers_about_pictures(scratch.path()), before);
  const fs::path folder = scratch / "folder";
  write_hub_folder(file, folder, "F32", nothing);
  check_equal(answers_about_pictures(folder), before);
  const std::string hash = model_fingerprint(file);
  fs::remove(scratch / "mmproj-tiny.gguf");  // the text model alone is a Qwen2
  CHECK(model_fingerprint(file) != hash);
  CHECK_FALSE(make_local_policy(file, {.threads = 1})->capabilities().images);
}

TEST_CASE("convert: of several towers the one with the model's name is taken, or none is guessed") {
  const agon::test::TempFolder scratch;
  const fs::path file = scratch / "tiny.gguf";
  write_gguf_file(agon::test::source_path("models/agon-tiny"), file, "F32", nothing);
  fs::copy(scratch / "mmproj-tiny.gguf", scratch / "other-mmproj-f16.gguf");
  CHECK(find_mmproj(file) == scratch / "mmproj-tiny.gguf");
  fs::rename(scratch / "mmproj-tiny.gguf", scratch / "mmproj-f32.gguf");
  CHECK_THROWS_WITH(find_mmproj(file), Contains("several mmproj files"));
}

}  // namespace
}  // namespace agon::agents
