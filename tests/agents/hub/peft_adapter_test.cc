#include "agents/hub/peft_adapter.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "adapter_files.h"
#include "core/error.h"
#include "golden/checkpoint.h"
#include "temp_folder.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using test::golden_checkpoint;
using test::set_adapter_key;
using test::write_adapter;

const std::string kQuery = "model.layers.0.self_attn.q_proj", kUp = "model.layers.1.mlp.up_proj",
                  kPatches = "visual.blocks.1.attn.qkv";

ModelConfig model_config() { return golden_checkpoint("uneven_windows").config; }
fs::path golden_adapter(const std::string& name) { return test::golden_path("lora") / name; }
PeftConfig small(const std::string& base = "") { return {.base_model = base, .rank = 2, .alpha = 3}; }

PeftAdapter opened(const fs::path& folder) { return open_peft_adapter(folder, adaptable_linears(model_config())); }

// The error of a good adapter after one key of its config was changed.
std::string error_with(const std::string& key, const Json& value) {
  const test::TempFolder folder;
  write_adapter(folder.path(), model_config(), small(), {kQuery, kUp}, 1);
  set_adapter_key(folder.path(), key, value);
  try {
    opened(folder.path());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("peft adapter: PEFT's own are read, in both forms of target_modules") {
  for (const auto& [name, model, rank, scale, modules] : {std::tuple("decoder", "uneven_windows", 4, 2.0, 14u),
                                                          {"both_towers", "wide_head", 3, 5 / std::sqrt(3.0), 7u}}) {
    const PeftAdapter adapter =
        open_peft_adapter(golden_adapter(name), adaptable_linears(golden_checkpoint(model).config));
    CHECK(adapter.config.rank == rank);
    CHECK(adapter.config.scale() == Approx(scale));
    CHECK(adapter.config.base_model == std::string("tests/golden/qwen2_5_vl/") + model);
    CHECK(adapter.modules.size() == modules);
    for (const auto& [module, matrices] : adapter.modules) {
      CHECK(matrices.a.shape.at(0) == rank);
      CHECK(matrices.b.shape.at(1) == rank);
    }
  }
}

TEST_CASE("peft adapter: what is written is read again, by the names of either release") {
  const test::TempFolder folder;
  for (const bool sees : {true, false}) {
    ModelConfig config = model_config();
    if (!sees) config.vision.reset();
    const fs::path path = folder / (sees ? "sees" : "reads");
    const std::vector<std::string> modules = sees ? std::vector{kQuery, kUp, kPatches} : std::vector{kQuery, kUp};
    write_adapter(path, config, small("some/base"), modules, 1);
    const PeftAdapter adapter = open_peft_adapter(path, adaptable_linears(config));
    CHECK(adapter.modules.size() == modules.size());
    CHECK(adapter.config.alpha == 3);
    CHECK(adapter.config.base_model == "some/base");
    CHECK_FALSE(adapter.config.rank_stabilised);
    const std::string name = sees ? "base_model.model.model.language_model.layers.0.self_attn.q_proj.lora_A.weight"
                                  : "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
    CHECK(adapter.file->tensors().contains(name));
  }
}

TEST_CASE("peft adapter: settings that change what it computes are refused, with their value") {
  CHECK_THAT(error_with("use_dora", true), Contains("'use_dora' is true"));
  CHECK_THAT(error_with("bias", "lora_only"), Contains("'bias' is \"lora_only\""));
  CHECK_THAT(error_with("modules_to_save", {"lm_head"}), Contains("'modules_to_save' is [\"lm_head\"]"));
  CHECK_THAT(error_with("rank_pattern", {{"q_proj", 8}}), Contains("'rank_pattern' is {\"q_proj\":8}"));
  CHECK_THAT(error_with("alpha_pattern", {{"q_proj", 8}}), Contains("'alpha_pattern'"));
  CHECK_THAT(error_with("layers_pattern", "blocks"), Contains("'layers_pattern'"));
  CHECK_THAT(error_with("init_lora_weights", "pissa_niter_4"), Contains("'init_lora_weights' is \"pissa_niter_4\""));
  CHECK_THAT(error_with("peft_type", "IA3"), Contains("only LORA"));
  CHECK_THAT(error_with("r", 1.5), Contains("'r' is 1.5"));
  CHECK_THAT(error_with("lora_alpha", "two"), Contains("'lora_alpha' is \"two\""));
  CHECK(error_with("init_lora_weights", "gaussian") == "no error");
  CHECK(error_with("modules_to_save", Json::array()) == "no error");
}

TEST_CASE("peft adapter: the matrices are those of the target modules") {
  CHECK(error_with("target_modules", {"layers.0.self_attn.q_proj", "layers.1.mlp.up_proj"}) == "no error");
  CHECK(error_with("target_modules", R"(.*(layers\.0\.self_attn\.q|language_model\.layers\.1\.mlp\.up)_proj)") ==
        "no error");
  CHECK_THAT(error_with("target_modules", {"q_proj", "layers.1.mlp.up_proj"}),
             Contains("model.layers.1.self_attn.q_proj: in 'target_modules', and without matrices"));
  CHECK_THAT(error_with("target_modules", {"layers.1.mlp.up_proj"}),
             Contains(kQuery + ": matrices, and not in 'target_modules'"));
  CHECK_THAT(error_with("target_modules", "q_proj"), Contains(kQuery + ": matrices, and not"));  // not the whole name
  CHECK_THAT(error_with("target_modules", "(q_proj"), Contains("'target_modules' is \"(q_proj\""));
  CHECK_THAT(error_with("target_modules", 3), Contains("'target_modules' is 3"));
  CHECK_THAT(error_with("target_modules", nullptr), Contains("'target_modules' is null"));
  CHECK_THAT(error_with("target_modules", "all-linear"), Contains("visual.merger.mlp.2: in 'target_modules'"));
  CHECK_THAT(error_with("exclude_modules", {"q_proj"}), Contains(kQuery + ": matrices, and not"));
}

TEST_CASE("peft adapter: all linears, and those of some layers") {
  const ModelConfig config = model_config();
  const test::TempFolder folder;
  std::vector<std::string> all, queries{"model.layers.1.self_attn.q_proj"};
  for (const auto& [module, shape] : adaptable_linears(config)) all.push_back(module);
  write_adapter(folder / "all", config, small(), all, 1);
  set_adapter_key(folder / "all", "target_modules", "all-linear");
  CHECK(opened(folder / "all").modules.size() == all.size());
  write_adapter(folder / "some", config, small(), queries, 1);
  set_adapter_key(folder / "some", "target_modules", {"q_proj"});
  CHECK_THROWS_WITH(opened(folder / "some"), Contains(kQuery + ": in 'target_modules'"));
  for (const Json& layers : {Json(1), Json{1}}) {
    set_adapter_key(folder / "some", "layers_to_transform", layers);
    CHECK(opened(folder / "some").modules.size() == 1);
  }
  set_adapter_key(folder / "some", "layers_to_transform", {0, 1});
  CHECK_THROWS_WITH(opened(folder / "some"), Contains(kQuery + ": in 'target_modules'"));
  set_adapter_key(folder / "some", "layers_to_transform", "last");
  CHECK_THROWS_WITH(opened(folder / "some"), Contains("'layers_to_transform' is \"last\""));
}

TEST_CASE("peft adapter: files that are damaged or of another model are refused") {
  CHECK_THROWS_WITH(opened("/nonexistent"), Contains("no adapter_config.json"));
  const LinearShapes others = adaptable_linears(golden_checkpoint("one_picture").config);
  CHECK_THROWS_WITH(open_peft_adapter(golden_adapter("decoder"), others), Contains("Is the adapter of another model?"));
  const test::TempFolder folder;
  write_adapter(folder.path(), model_config(), small(), {kQuery}, 1);
  const fs::path tensors = folder / kPeftTensorFile;
  const auto file = SafetensorsFile::open(tensors);
  const auto rewritten = [&](const std::string& name, const TensorView& view) {
    const test::TempFolder other;
    fs::copy(folder / kPeftConfigFile, other / kPeftConfigFile);
    std::map<std::string, TensorView> changed = file->tensors();
    changed[name] = view;
    write_safetensors(other / kPeftTensorFile, changed);
    try {
      opened(other.path());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string name = file->tensors().begin()->first;
  const TensorView& view = file->tensors().at(name);
  std::vector<float> values(view.bytes.size() / sizeof(float), 0.5F);
  const auto of_values = [&](const std::string& type, std::vector<std::int64_t> shape) {
    return TensorView{
        type, std::move(shape), {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)}};
  };
  CHECK(rewritten(name, of_values("F32", view.shape)) == "no error");
  CHECK_THAT(rewritten(name, of_values("I32", view.shape)), Contains("type I32, not F32, F16 or BF16"));
  CHECK_THAT(rewritten(name, of_values("F32", {view.shape[1], view.shape[0]})), Contains("[64, 2] instead of [2, 64]"));
  values[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(rewritten(name, of_values("F32", view.shape)), Contains(name + ": values that are not finite"));
  values[7] = 0;
  CHECK_THAT(rewritten("base_model.model.lm_head.lora_A.weight", of_values("F32", view.shape)),
             Contains("the model has no linear lm_head"));
  CHECK_THAT(rewritten("base_model.model.score.weight", of_values("F32", view.shape)),
             Contains("score.weight: not the name of a LoRA matrix"));
  CHECK_THAT(rewritten("base_model.model." + kQuery + ".lora_A.weight", of_values("F32", view.shape)),
             Contains("twice, by two names"));
  fs::resize_file(tensors, 100);
  CHECK_THROWS_AS(opened(folder.path()), Error);
  fs::remove(tensors);
  CHECK_THROWS_WITH(opened(folder.path()), Contains("no adapter_model.safetensors"));
  write_file_atomically((folder / kPeftConfigFile).string(), "[1");
  CHECK_THROWS_WITH(opened(folder.path()), Contains("not a JSON object"));
}

TEST_CASE("peft adapter: the base is found beside the adapter, or at its absolute path") {
  const test::TempFolder folder;
  make_folders(folder / "base");
  const auto base_of = [&](const std::string& base) {
    write_adapter(folder / "adapter", model_config(), small(base), {kQuery}, 1);
    return base_of_adapter(folder / "adapter");
  };
  CHECK(fs::equivalent(base_of("../base"), folder / "base"));
  CHECK(fs::equivalent(base_of((folder / "base").string()), folder / "base"));
  CHECK_THROWS_WITH(base_of("../gone"), Contains("../gone") && Contains("base_model_name_or_path"));
  CHECK_THROWS_WITH(base_of("some/model-that-nobody-fetched"), Contains("agon pull"));
  CHECK_THROWS_WITH(base_of(""), Contains("no 'base_model_name_or_path'"));
  CHECK(is_adapter_folder(folder / "adapter"));
  CHECK_FALSE(is_adapter_folder(folder / "base"));
}

}  // namespace
}  // namespace agon::agents
