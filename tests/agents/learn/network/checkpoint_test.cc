#include "agents/hub/model_folder.h"
#include "agents/learn/network/checkpoint_weights.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "agents/hub/safetensors.h"
#include "agents/hub/tokenizer/tokenizer_learner.h"
#include "agents/learn/network/transformer_network.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "golden/model.h"
#include "temp_folder.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using test::GoldenModel;
using test::TempFolder;

const std::vector<std::string> kSpecial{"<|endoftext|>", "<|im_start|>",     "<|im_end|>",    "<|image_pad|>",
                                        "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"};

// A whole small model: 256 bytes and the special tokens.
ModelFolder small_parts() {
  ModelFolder parts;
  parts.tokenizer = Tokenizer::parse(learn_tokenizer({}, 256 + 7, kSpecial, {}), "learned");
  const auto id = [&](const char* token) { return *parts.tokenizer->id_of(token); };
  parts.config.vision = VisionConfig{.depth = 2,
                                     .hidden_size = 16,
                                     .intermediate_size = 24,
                                     .num_heads = 2,
                                     .out_hidden_size = 32,
                                     .patch_size = 4,
                                     .window_size = 16,
                                     .fullatt_block_indexes = {1}};
  parts.config.text = {.vocab_size = parts.tokenizer->vocab_size(),
                       .hidden_size = 32,
                       .intermediate_size = 48,
                       .num_hidden_layers = 2,
                       .num_attention_heads = 2,
                       .num_key_value_heads = 1,
                       .max_position_embeddings = 256,
                       .rope_theta = 100,
                       .mrope_section = {2, 3, 3}};
  parts.config.image_token_id = id("<|image_pad|>");
  parts.config.video_token_id = id("<|video_pad|>");
  parts.config.vision_start_token_id = id("<|vision_start|>");
  parts.config.vision_end_token_id = id("<|vision_end|>");
  parts.config.eos_token_ids = {id("<|im_end|>"), id("<|endoftext|>")};
  parts.images.patch_size = 4;
  parts.images.min_pixels = 64;
  parts.images.max_pixels = 4096;
  parts.chat = ChatTemplate::parse(ChatTemplate::plain_jinja(), "plain");
  return parts;
}

void check_same_weights(const TransformerNetwork& model, const TransformerNetwork& expected) {
  REQUIRE(model.named_parameters().size() == expected.named_parameters().size());
  for (std::size_t i = 0; i < model.named_parameters().size(); ++i) {
    const auto& [name, parameter] = model.named_parameters()[i];
    INFO(name);
    CHECK(name == expected.named_parameters()[i].first);
    CHECK(parameter.equal(expected.named_parameters()[i].second));
  }
}

void save_small(const fs::path& folder, WeightType type = WeightType::f32) {
  at::manual_seed(3);
  const ModelFolder parts = small_parts();
  const auto model = std::make_shared<TransformerNetwork>(parts.config);
  save_model_folder(folder, parts, *model, type);
}

void edit_json(const fs::path& path, const std::function<void(Json&)>& edit) {
  Json json = Json::parse(read_file(path.string()));
  edit(json);
  write_file_atomically(path.string(), json.dump());
}

std::string open_error(const fs::path& folder) {
  try {
    const ModelFolder parts = open_model_folder(folder);
    const auto model = std::make_shared<TransformerNetwork>(parts.config);
    load_weights(*model, folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("checkpoint: what is saved is opened alike") {
  const TempFolder folder;
  const ModelFolder parts = small_parts();
  const auto model = std::make_shared<TransformerNetwork>(parts.config),
             again = std::make_shared<TransformerNetwork>(parts.config);
  save_model_folder(folder.path(), parts, *model, WeightType::f32);
  const ModelFolder opened = open_model_folder(folder.path());
  CHECK(to_json(opened.config).dump() == to_json(parts.config).dump());
  CHECK(to_json(opened.images).dump() == to_json(parts.images).dump());
  CHECK(video_processor_json(opened.images).dump() == video_processor_json(parts.images).dump());
  CHECK(opened.tokenizer->json() == parts.tokenizer->json());
  CHECK(opened.chat.jinja() == parts.chat.jinja());
  load_weights(*again, folder.path());
  check_same_weights(*model, *again);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 8);
}

TEST_CASE("checkpoint: bf16 weights take half the room and are the nearest values") {
  const TempFolder folder;
  const ModelFolder parts = small_parts();
  const auto model = std::make_shared<TransformerNetwork>(parts.config),
             again = std::make_shared<TransformerNetwork>(parts.config);
  save_model_folder(folder.path(), parts, *model, WeightType::bf16);
  load_weights(*again, folder.path());
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model->parameters()) parameter.copy_(parameter.to(at::kBFloat16));
  check_same_weights(*model, *again);
  CHECK(SafetensorsFile::open(folder / "model.safetensors")->tensors().at("model.norm.weight").bytes.size() == 64);
  CHECK(Json::parse(read_file(folder / "config.json"))["dtype"] == "bfloat16");
}

TEST_CASE("checkpoint: the newer tensor names are understood") {
  const TempFolder folder;
  const GoldenModel golden("uneven_windows");
  std::map<std::string, TensorView> renamed;
  const auto file = SafetensorsFile::open(golden.folder / "model.safetensors");
  for (const auto& [name, view] : file->tensors())
    renamed[name.starts_with("visual.")  ? "model." + name
            : name.starts_with("model.") ? "model.language_model." + name.substr(6)
                                         : name] = view;
  write_safetensors(folder / "model.safetensors", renamed);
  const auto model = std::make_shared<TransformerNetwork>(golden.model->config());
  load_weights(*model, folder.path());
  check_same_weights(*golden.model, *model);
}

TEST_CASE("checkpoint: a tied head may be repeated in the file, but not differ") {
  const TempFolder folder;
  const GoldenModel golden("one_picture");
  const auto file = SafetensorsFile::open(golden.folder / "model.safetensors");
  auto tensors = file->tensors();
  tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"];
  const auto model = std::make_shared<TransformerNetwork>(golden.model->config());
  write_safetensors(folder / "model.safetensors", tensors);
  CHECK_NOTHROW(load_weights(*model, folder.path()));
  std::vector<std::uint8_t> other(tensors["lm_head.weight"].bytes.size());
  tensors["lm_head.weight"].bytes = other;
  write_safetensors(folder / "model.safetensors", tensors);
  CHECK_THROWS_WITH(load_weights(*model, folder.path()), Contains("unexpected lm_head.weight"));
}

TEST_CASE("checkpoint: weights that do not fit the config are listed, all of them") {
  const TempFolder folder;
  const GoldenModel golden("one_picture");
  const auto file = SafetensorsFile::open(golden.folder / "model.safetensors");
  auto tensors = file->tensors();
  tensors.erase("model.norm.weight");
  tensors["extra.weight"] = tensors["visual.merger.ln_q.weight"];
  tensors["visual.merger.ln_q.weight"].shape = {2, 8};
  tensors["visual.blocks.0.norm1.weight"].dtype = "I32";
  write_safetensors(folder / "model.safetensors", tensors);
  const auto model = std::make_shared<TransformerNetwork>(golden.model->config());
  CHECK_THROWS_WITH(load_weights(*model, folder.path()),
                    Contains("missing model.norm.weight [32]") && Contains("unexpected extra.weight [16]") &&
                        Contains("visual.merger.ln_q.weight is [2, 8], the config asks for [16]") &&
                        Contains("visual.blocks.0.norm1.weight is of type I32"));
}

TEST_CASE("checkpoint: a folder with a missing or wrong file is refused, naming it") {
  const TempFolder folder;
  CHECK_THAT(open_error(folder.path()), Contains("no config.json"));
  for (const char* name : {"config.json", "preprocessor_config.json", "tokenizer.json", "model.safetensors"}) {
    save_small(folder.path());
    fs::remove(folder / name);
    CHECK_THAT(open_error(folder.path()), Contains(name));
    save_small(folder.path());
    write_file_atomically(folder / name, "{");
    CHECK_THAT(open_error(folder.path()), Contains(name));
  }
  save_small(folder.path());
  CHECK(open_error(folder.path()) == "no error");
}

TEST_CASE("checkpoint: the chat template is found where older and newer releases keep it") {
  const TempFolder folder;
  save_small(folder.path());
  fs::remove(folder / "chat_template.jinja");
  CHECK(open_model_folder(folder.path()).chat.jinja() == ChatTemplate::plain_jinja());
  edit_json(folder / "tokenizer_config.json", [](Json& json) { json.erase("chat_template"); });
  CHECK_THAT(open_error(folder.path()), Contains("tokenizer_config.json: no text \"chat_template\""));
  write_file_atomically(folder / "chat_template.json", Json{{"chat_template", ChatTemplate::plain_jinja()}}.dump());
  CHECK(open_error(folder.path()) == "no error");
}

TEST_CASE("checkpoint: generation_config.json says where a turn ends") {
  const TempFolder folder;
  save_small(folder.path());
  edit_json(folder / "generation_config.json", [](Json& json) { json["eos_token_id"] = 7; });
  CHECK(open_model_folder(folder.path()).config.eos_token_ids == std::vector<std::int32_t>{7});
  for (const Json& wrong : {Json(-1), Json("x"), Json(263), Json({1, nullptr})}) {
    edit_json(folder / "generation_config.json", [&](Json& json) { json["eos_token_id"] = wrong; });
    CHECK_THAT(open_error(folder.path()), Contains("generation_config.json: eos_token_id"));
  }
}

TEST_CASE("checkpoint: files of different models are refused") {
  const TempFolder folder;
  const auto error_after = [&](const char* file, const std::function<void(Json&)>& edit) {
    save_small(folder.path());
    edit_json(folder / file, edit);
    return open_error(folder.path());
  };
  CHECK_THAT(error_after("preprocessor_config.json", [](Json& json) { json["patch_size"] = 14; }),
             Contains("patch_size is 14 in preprocessor_config.json and 4 in config.json"));
  CHECK_THAT(error_after("config.json", [](Json& json) { json["image_token_id"] = 3; }),
             Contains("<|image_pad|> is 259 in tokenizer.json and 3 in config.json"));
  CHECK_THAT(error_after("config.json", [](Json& json) { json["text_config"]["vocab_size"] = 260; }),
             Contains("config.json"));
  CHECK_THAT(error_after("config.json", [](Json& json) { json["text_config"]["intermediate_size"] = 49; }),
             Contains("model.layers.1.mlp.down_proj.weight is [32, 48], the config asks for [32, 49]"));
}

TEST_CASE("checkpoint: a folder that cannot be written is an error") {
  const ModelFolder parts = small_parts();
  const auto model = std::make_shared<TransformerNetwork>(parts.config);
  CHECK_THROWS_WITH(save_model_folder("/dev/null/model", parts, *model, WeightType::f32), Contains("/dev/null/model"));
}

}  // namespace
}  // namespace agon::agents
