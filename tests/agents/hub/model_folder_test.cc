#include "agents/hub/model_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/safetensors.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// A copy of a golden folder whose config.json has no eos_token_id.
fs::path without_end(const agon::test::TempFolder& scratch) {
  const fs::path folder = scratch / "model";
  fs::copy(agon::test::golden_path("text_models/llama"), folder);
  const std::string path = (folder / "config.json").string();
  Json config = Json::parse(read_file(path));
  config.erase("eos_token_id");
  write_file_atomically(path, config.dump());
  return folder;
}

TEST_CASE("model_folder: the tokens that end a turn may stand in generation_config.json alone") {
  const agon::test::TempFolder scratch;
  const fs::path folder = without_end(scratch), ends = folder / "generation_config.json";
  write_file_atomically(ends.string(), R"({"eos_token_id": [7, 9]})");
  CHECK(open_model_folder(folder).config.eos_token_ids == std::vector<std::int32_t>{7, 9});
  fs::remove(ends);
  CHECK_THROWS_WITH(open_model_folder(folder),
                    Contains("neither config.json nor generation_config.json has an eos_token_id"));
}

TEST_CASE("model_folder: rotations that older programs saved beside the weights are left out") {
  const agon::test::TempFolder scratch;
  const fs::path golden = agon::test::golden_path("text_models/llama"), folder = scratch / "model";
  fs::copy(golden, folder);
  const ModelConfig config = open_model_folder(golden).config;
  const CheckpointTensors tensors = open_checkpoint_tensors(golden, config);
  std::map<std::string, TensorView> views;
  for (const auto& [name, tensor] : tensors.by_name) views[name] = tensor.view;
  const std::vector<std::uint8_t> rotations(8);
  views["model.layers.0.self_attn.rotary_emb.inv_freq"] = {"F32", {2}, rotations};
  write_safetensors(folder / "model.safetensors", views, {{"format", "pt"}});
  const CheckpointTensors again = open_checkpoint_tensors(folder, config);
  CHECK(again.by_name.size() == tensors.by_name.size());
  CHECK_FALSE(again.by_name.contains("model.layers.0.self_attn.rotary_emb.inv_freq"));
}

}  // namespace
}  // namespace agon::agents
