#include "agents/hub/gguf/vision.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "agents/engine/local_policy.h"
#include "agents/hub/convert_checkpoint.h"
#include "agents/hub/model_folder.h"
#include "core/error.h"
#include "core/text.h"
#include "golden/checkpoint.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::TempFolder;
using Catch::Contains;

const fs::path kGgufGolden = agon::test::golden_path("gguf_vision");
const fs::path kVisionModels = agon::test::golden_path("qwen_vl/generation");

void no_progress(std::size_t, std::size_t) {}

bool is_of_tower(const std::string& name) { return name.starts_with("visual."); }

std::vector<GgufTensor> parts_of(const CheckpointTensors& tensors, const ModelConfig& config, std::string_view type) {
  std::vector<GgufTensor> parts;
  for (const auto& [name, tensor] : tensors.by_name)
    if (is_of_tower(name))
      for (GgufTensor& part : gguf_vision_parts(name, tensor, *config.vision, type)) parts.push_back(std::move(part));
  return parts;
}

// Checks that the file's tower has the config's values, and that its tensors are the folder's, bit for bit.
void check_same(const fs::path& path, const CheckpointTensors& tensors, const ModelConfig& config) {
  const auto file = GgufFile::open(path);
  Json whole = to_json(config);
  const Json expected = whole;
  CHECK(gguf_vision_model_type(*file, "x") == config.model_type);
  whole["vision_config"] = gguf_vision_config(*file, "x");
  CHECK(to_json(parse_model_config(whole, "x")) == expected);
  const GgufVisionTensors found = gguf_vision_tensors(*file, "x");
  std::size_t count = 0;
  for (const auto& [name, tensor] : tensors.by_name) {
    if (!is_of_tower(name)) continue;
    CAPTURE(name);
    ++count;
    REQUIRE(found.by_name.contains(name));
    CHECK(found.by_name.at(name).shape == tensor.view.shape);
    CHECK(values_of({found.by_name.at(name)}) == values_of(tensor));
  }
  CHECK(found.by_name.size() == count);
}

std::vector<Completion> seen_answers(const fs::path& model) {
  const auto policy = make_local_policy(model, {.threads = 1, .backend = {.memory = {.weights = WeightKind::f32}}});
  std::vector<Completion> answers;
  for (const char* name : {"qwen3_vl-0.png", "qwen2_vl-1.png"}) {
    Message question{
        Role::user, {Part::of(load_image((kVisionModels / name).string())), Part::of("Which bar?")}, {}, {}};
    CompletionRequest request{{std::move(question)}, {}, 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 30;
    answers.push_back(policy->complete({&request, 1}).at(0));
  }
  return answers;
}

void check_same_answers(const std::vector<Completion>& a, const std::vector<Completion>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].prompt_tokens == b[i].prompt_tokens);
    CHECK(a[i].token_ids == b[i].token_ids);
    CHECK(a[i].logprobs == b[i].logprobs);
  }
}

}  // namespace

TEST_CASE("gguf vision: every tower comes back from its file as it was") {
  const TempFolder scratch;
  for (const auto& [name, set] :
       {std::pair("qwen2_vl", "qwen_vl"), std::pair("qwen3_vl", "qwen_vl"), std::pair("qwen3_vl_biased", "qwen_vl"),
        std::pair("one_picture", "qwen2_5_vl"), std::pair("uneven_windows", "qwen2_5_vl")}) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(name, set);
    const CheckpointTensors tensors = open_checkpoint_tensors(model.folder, model.config);
    write_gguf(scratch / "tower.gguf", gguf_vision_keys(model.config, {}), parts_of(tensors, model.config, "F32"));
    check_same(scratch / "tower.gguf", tensors, model.config);
  }
}

TEST_CASE("gguf vision: a file with llama.cpp's names and layouts is read as the hub's folder") {
  for (const char* name : {"qwen2_vl", "qwen3_vl"}) {
    CAPTURE(name);
    const ModelFolder model = open_model_folder(kVisionModels / name);
    check_same(kGgufGolden / (std::string(name) + ".gguf"), open_checkpoint_tensors(model.path, model.config),
               model.config);
  }
}

TEST_CASE("gguf vision: what is written has llama.cpp's names, types and layouts") {
  const TempFolder scratch;
  for (const char* name : {"qwen2_vl", "qwen3_vl"}) {
    const ModelFolder model = open_model_folder(kVisionModels / name);
    const CheckpointTensors tensors = open_checkpoint_tensors(model.path, model.config);
    const fs::path path = scratch / "tower.gguf";
    write_gguf(path, gguf_vision_keys(model.config, model.images), parts_of(tensors, model.config, "BF16"));
    const auto written = GgufFile::open(path), golden = GgufFile::open(kGgufGolden / (std::string(name) + ".gguf"));
    for (const auto& [key, value] : golden->keys().items()) {
      CAPTURE(name, key);
      const bool is_wrong_there = key == "clip.vision.feed_forward_length" && std::string(name) == "qwen2_vl";
      REQUIRE(written->keys().contains(key));
      if (!is_wrong_there) CHECK(written->keys().at(key) == value);
    }
    for (const char* key : {"clip.vision.image_mean", "clip.vision.image_std", "clip.vision.is_deepstack_layers"}) {
      CAPTURE(name, key);
      CHECK(written->list(key) == golden->list(key));
    }
    CHECK(written->keys().at("clip.vision.image_max_pixels") == model.images.max_pixels);
    CHECK(written->tensors().size() == golden->tensors().size());
    for (const auto& [tensor, view] : golden->tensors()) {
      CAPTURE(name, tensor);
      REQUIRE(written->tensors().contains(tensor));
      const TensorView& own = written->tensors().at(tensor);
      CHECK(own.shape == view.shape);
      CHECK(own.dtype == view.dtype);
      CHECK(std::equal(own.bytes.begin(), own.bytes.end(), view.bytes.begin(), view.bytes.end()));
    }
  }
}

TEST_CASE("gguf vision: a folder, its GGUF files and the folder made of them answer alike about pictures") {
  const TempFolder scratch;
  for (const char* name : {"qwen2_vl", "qwen3_vl"}) {
    CAPTURE(name);
    const fs::path file = scratch / (std::string(name) + ".gguf"), folder = scratch / name;
    const std::vector<Completion> before = seen_answers(kVisionModels / name);
    write_gguf_file(kVisionModels / name, file, "F32", no_progress);
    check_same_answers(seen_answers(file), before);
    write_hub_folder(file, folder, "F32", no_progress);
    check_same_answers(seen_answers(folder), before);
    const ModelFolder model = open_model_folder(kVisionModels / name), again = open_model_folder(folder);
    const CheckpointTensors tensors = open_checkpoint_tensors(model.path, model.config),
                            copies = open_checkpoint_tensors(again.path, again.config);
    CHECK(copies.by_name.size() == tensors.by_name.size());
    for (const auto& [tensor, own] : tensors.by_name) {
      CAPTURE(tensor);
      REQUIRE(copies.by_name.contains(tensor));
      CHECK(copies.by_name.at(tensor).view.shape == own.view.shape);
      CHECK(values_of(copies.by_name.at(tensor)) == values_of(own));
    }
    CHECK(to_json(again.config)["vision_config"] == to_json(model.config)["vision_config"]);
    CHECK(to_json(again.images) == to_json(model.images));
    // The tower from another converter, which does not store the sizes of pictures.
    fs::copy_file(kGgufGolden / (std::string(name) + ".gguf"), mmproj_of(file), fs::copy_options::overwrite_existing);
    CHECK(make_local_policy(file, {.threads = 1})->capabilities().images);
    fs::remove(mmproj_of(file));  // else the next model would have two towers
  }
}

TEST_CASE("gguf vision: without its tower a model reads text alone, and another model's tower is refused") {
  const TempFolder scratch;
  const fs::path file = scratch / "model.gguf";
  write_gguf_file(kVisionModels / "qwen3_vl", file, "F32", no_progress);
  CHECK(open_model_folder(file).config.model_type == "qwen3_vl");
  fs::remove(mmproj_of(file));
  CHECK(open_model_folder(file).config.model_type == "qwen3");
  CHECK_FALSE(make_local_policy(file, {.threads = 1})->capabilities().images);
  fs::copy_file(kGgufGolden / "qwen2_vl.gguf", mmproj_of(file));
  CHECK_THROWS_WITH(open_model_folder(file), Contains("the tower of qwen2_vl is not one of a text of qwen3vl"));
}

TEST_CASE("gguf vision: files with the MLP's matrices exchanged by name are read") {
  const TempFolder scratch;
  const GoldenCheckpoint model = golden_checkpoint("qwen2_vl", "qwen_vl");
  const CheckpointTensors tensors = open_checkpoint_tensors(model.folder, model.config);
  std::vector<GgufTensor> parts = parts_of(tensors, model.config, "F32");
  for (GgufTensor& part : parts)
    for (const auto& [from, to] : {std::pair("ffn_up", "ffn_DOWN"), std::pair("ffn_down", "ffn_up")})
      if (const std::size_t at = part.name.find(from); at != std::string::npos) {
        part.name.replace(at, std::string_view(from).size(), to);
        break;
      }
  for (GgufTensor& part : parts)
    if (const std::size_t at = part.name.find("DOWN"); at != std::string::npos) part.name.replace(at, 4, "down");
  write_gguf(scratch / "tower.gguf", gguf_vision_keys(model.config, {}), parts);
  check_same(scratch / "tower.gguf", tensors, model.config);
}

TEST_CASE("gguf vision: blocks that see the whole picture at uneven distances, and other patches, are refused") {
  const GoldenCheckpoint model = golden_checkpoint("wide_head");
  CHECK_THROWS_WITH(gguf_vision_keys(model.config, {}), Contains("[0,2]") && Contains("every n-th block"));
  ModelConfig single = model.config;
  single.vision->temporal_patch_size = 1;
  CHECK_THROWS_WITH(gguf_vision_keys(single, {}), Contains("temporal_patch_size 1 cannot be written, only 2"));
}

TEST_CASE("gguf vision: an unknown tower is refused with those that are known") {
  const TempFolder scratch;
  const GoldenCheckpoint model = golden_checkpoint("qwen2_vl", "qwen_vl");
  std::vector<GgufKey> keys = gguf_vision_keys(model.config, {});
  for (GgufKey& key : keys)
    if (key.name == "clip.projector_type") key.value = std::string("gemma3");
  write_gguf(scratch / "tower.gguf", keys, {});
  CHECK_THROWS_WITH(gguf_vision_model_type(*GgufFile::open(scratch / "tower.gguf"), "tower"),
                    Contains("gemma3") && Contains("qwen2vl_merger, qwen2.5vl_merger, qwen3vl_merger"));
}

}  // namespace agon::agents
