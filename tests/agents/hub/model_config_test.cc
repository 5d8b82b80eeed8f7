#include "agents/hub/model_config.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "core/text.h"
#include "paths.h"

namespace agon::agents {
namespace {

using Catch::Matchers::Contains;

// In the layout of the hub's Qwen2.5-VL files.
Json hub_config() {
  return Json::parse(R"({
    "architectures": ["Qwen2_5_VLForConditionalGeneration"], "attention_dropout": 0.0,
    "bos_token_id": 151643, "eos_token_id": 151645,
    "vision_start_token_id": 151652, "vision_end_token_id": 151653, "vision_token_id": 151654,
    "image_token_id": 151655, "video_token_id": 151656, "hidden_act": "silu", "hidden_size": 2048,
    "initializer_range": 0.02, "intermediate_size": 11008, "max_position_embeddings": 128000, "max_window_layers": 70,
    "model_type": "qwen2_5_vl", "num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 2,
    "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768, "tie_word_embeddings": true,
    "torch_dtype": "bfloat16", "use_cache": true, "use_sliding_window": false,
    "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280, "intermediate_size": 3420,
      "num_heads": 16, "in_chans": 3, "out_hidden_size": 2048, "patch_size": 14, "spatial_merge_size": 2,
      "spatial_patch_size": 14, "window_size": 112, "fullatt_block_indexes": [7, 15, 23, 31],
      "tokens_per_second": 2, "temporal_patch_size": 2},
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}, "vocab_size": 151936})");
}

Json nested_config() { return Json::parse(read_file(agon::test::golden_path("model_config/transformers5.json"))); }

std::string config_error(const Json& json) {
  try {
    parse_model_config(json, "config.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("model_config: the hub's flat layout") {
  const ModelConfig config = parse_model_config(hub_config(), "config.json");
  CHECK(config.text.vocab_size == 151936);
  CHECK(config.text.head_dim() == 128);
  CHECK(config.text.num_key_value_heads == 2);
  CHECK(config.text.rope_theta == 1e6);
  CHECK(config.text.mrope_section == std::array<int, 3>{16, 24, 24});
  CHECK(config.text.tie_word_embeddings);
  CHECK(config.vision->hidden_size == 1280);
  CHECK(config.vision->fullatt_block_indexes == std::vector<int>{7, 15, 23, 31});
  CHECK(config.eos_token_ids == std::vector<std::int32_t>{151645});
  CHECK(config.image_token_id == 151655);
}

TEST_CASE("model_config: what transformers 5 saves") {
  const ModelConfig config = parse_model_config(nested_config(), "config.json");
  CHECK(config.text.vocab_size == 64);
  CHECK(config.text.rope_theta == 10.0);
  CHECK(config.text.mrope_section == std::array<int, 3>{2, 3, 3});
  CHECK(config.text.tie_word_embeddings);
  CHECK(config.vision->fullatt_block_indexes == std::vector<int>{1});
  CHECK(config.eos_token_ids == std::vector<std::int32_t>{5, 6});
  CHECK(config.vision_start_token_id == 62);
}

TEST_CASE("model_config: tied embeddings inside text_config, as older releases saved them") {
  Json json = nested_config();
  json.erase("tie_word_embeddings");
  CHECK_FALSE(parse_model_config(json, "config.json").text.tie_word_embeddings);
  json["text_config"]["tie_word_embeddings"] = true;
  CHECK(parse_model_config(json, "config.json").text.tie_word_embeddings);
}

TEST_CASE("model_config: what is written is read back alike") {
  for (const Json& json : {hub_config(), nested_config()}) {
    const ModelConfig config = parse_model_config(json, "config.json");
    const Json written = to_json(config);
    CHECK(to_json(parse_model_config(Json::parse(written.dump()), "again")).dump() == written.dump());
  }
}

// In the layout of the hub's Llama 3.2 files.
Json llama_config() {
  return Json::parse(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009], "head_dim": 64, "hidden_act": "silu", "hidden_size": 2048,
    "initializer_range": 0.02, "intermediate_size": 8192, "max_position_embeddings": 131072, "mlp_bias": false,
    "model_type": "llama", "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
    "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0,
    "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
    "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 128256})");
}

// In the layout of the hub's Qwen3 files.
Json qwen3_config() {
  return Json::parse(R"({
    "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "bos_token_id": 151643, "eos_token_id": 151645,
    "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072,
    "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 16,
    "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_scaling": null,
    "rope_theta": 1000000, "sliding_window": null, "tie_word_embeddings": true, "use_sliding_window": false,
    "vocab_size": 151936})");
}

TEST_CASE("model_config: text models") {
  const ModelConfig llama = parse_model_config(llama_config(), "config.json");
  CHECK_FALSE(llama.vision);
  CHECK(llama.model_type == "llama");
  CHECK_FALSE(llama.text.qkv_bias);
  REQUIRE(llama.text.rope_scaling);
  CHECK(llama.text.rope_scaling->factor == 32);
  CHECK(llama.text.rope_scaling->trained_positions == 8192);
  CHECK(llama.text.mrope_section == std::array<int, 3>{32, 0, 0});
  CHECK(llama.eos_token_ids.size() == 3);
  const ModelConfig qwen3 = parse_model_config(qwen3_config(), "config.json");
  CHECK(qwen3.text.head_dim() == 128);
  CHECK(qwen3.text.normalises_heads);
  CHECK_FALSE(qwen3.text.rope_scaling);
  Json biased = llama_config();
  biased["attention_bias"] = biased["mlp_bias"] = true;
  CHECK(parse_model_config(biased, "config.json").text.attention_out_bias);
  CHECK(parse_model_config(biased, "config.json").text.mlp_bias);
  Json old = llama_config();
  for (const char* key : {"rope_scaling", "rope_theta", "head_dim", "num_key_value_heads"}) old.erase(key);
  CHECK(parse_model_config(old, "config.json").text.rope_theta == 10'000);
  CHECK(parse_model_config(old, "config.json").text.num_key_value_heads == 32);
  for (const Json& json : {llama_config(), qwen3_config(), biased, old}) {
    const Json written = to_json(parse_model_config(json, "config.json"));
    CHECK(to_json(parse_model_config(Json::parse(written.dump()), "again")).dump() == written.dump());
  }
}

TEST_CASE("model_config: what of a text model is not computed is refused") {
  const auto with = [](Json json, const char* pointer, const Json& value) {
    json[Json::json_pointer(pointer)] = value;
    return config_error(json);
  };
  CHECK_THAT(with(llama_config(), "/rope_scaling/rope_type", "yarn"), Contains("only \"default\" and \"llama3\""));
  CHECK_THAT(with(llama_config(), "/rope_scaling/factor", nullptr), Contains("rope_scaling.factor"));
  CHECK_THAT(with(llama_config(), "/rope_scaling/low_freq_factor", 4), Contains("not below high_freq_factor"));
  CHECK_THAT(with(llama_config(), "/pretraining_tp", 2), Contains("pretraining_tp"));
  CHECK_THAT(with(llama_config(), "/head_dim", 63), Contains("head_dim: 63 does not give an even head size"));
  CHECK_THAT(with(qwen3_config(), "/use_sliding_window", true), Contains("use_sliding_window"));
  CHECK_THAT(with(qwen3_config(), "/layer_types", {"full_attention", "sliding_attention"}), Contains("layer_types"));
  CHECK_THAT(with(qwen3_config(), "/attention_bias", "no"), Contains("attention_bias"));
}

// In the layout of the hub's Qwen2-VL files.
Json qwen2_vl_config() {
  return Json::parse(R"({
    "architectures": ["Qwen2VLForConditionalGeneration"], "attention_dropout": 0.0, "bos_token_id": 151643,
    "eos_token_id": 151645, "vision_start_token_id": 151652, "vision_end_token_id": 151653,
    "vision_token_id": 151654, "image_token_id": 151655, "video_token_id": 151656, "hidden_act": "silu",
    "hidden_size": 1536, "initializer_range": 0.02, "intermediate_size": 8960, "max_position_embeddings": 32768,
    "max_window_layers": 28, "model_type": "qwen2_vl", "num_attention_heads": 12, "num_hidden_layers": 28,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0, "sliding_window": 32768,
    "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_cache": true, "use_sliding_window": false,
    "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3,
      "hidden_size": 1536, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
      "temporal_patch_size": 2},
    "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}, "vocab_size": 151936})");
}

// In the layout of the hub's Qwen3-VL files.
Json qwen3_vl_config() {
  return Json::parse(R"({
    "architectures": ["Qwen3VLForConditionalGeneration"], "image_token_id": 151655, "model_type": "qwen3_vl",
    "text_config": {"attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 151643, "dtype": "bfloat16",
      "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu", "hidden_size": 2048, "initializer_range": 0.02,
      "intermediate_size": 6144, "max_position_embeddings": 262144, "model_type": "qwen3_vl_text",
      "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8, "rms_norm_eps": 1e-06,
      "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20], "rope_type": "default"},
      "rope_theta": 5000000, "tie_word_embeddings": true, "use_cache": true, "vocab_size": 151936},
    "tie_word_embeddings": true, "video_token_id": 151656,
    "vision_config": {"deepstack_visual_indexes": [5, 11, 17], "depth": 24, "hidden_act": "gelu_pytorch_tanh",
      "hidden_size": 1024, "in_channels": 3, "initializer_range": 0.02, "intermediate_size": 4096,
      "model_type": "qwen3_vl", "num_heads": 16, "num_position_embeddings": 2304, "out_hidden_size": 2048,
      "patch_size": 16, "spatial_merge_size": 2, "temporal_patch_size": 2},
    "vision_end_token_id": 151653, "vision_start_token_id": 151652})");
}

TEST_CASE("model_config: Qwen2-VL and Qwen3-VL") {
  const ModelConfig second = parse_model_config(qwen2_vl_config(), "config.json");
  CHECK(second.vision->tower == &kQwen2Tower);
  CHECK(second.vision->hidden_size == 1280);
  CHECK(second.vision->intermediate_size == 5120);
  CHECK(second.vision->out_hidden_size == 1536);
  CHECK(second.vision->sees_whole_frame(0));
  CHECK(second.text.qkv_bias);
  CHECK(frequency_axes(second.text)[16] == 1);
  const ModelConfig third = parse_model_config(qwen3_vl_config(), "config.json");
  CHECK(third.vision->tower == &kQwen3Tower);
  CHECK(third.vision->places_a_side() == 48);
  CHECK(third.vision->deepstack_blocks == std::vector<int>{5, 11, 17});
  CHECK(third.vision->vectors_a_token() == 4);
  CHECK(third.text.normalises_heads);
  CHECK(third.text.head_dim() == 128);
  CHECK_FALSE(third.text.qkv_bias);
  CHECK(third.text.tie_word_embeddings);
  const std::vector<int> axes = frequency_axes(third.text);
  REQUIRE(axes.size() == 64);
  CHECK(std::vector(axes.begin(), axes.begin() + 4) == std::vector{0, 1, 2, 0});
  CHECK(std::vector(axes.begin() + 58, axes.end()) == std::vector{1, 2, 0, 0, 0, 0});
  for (const char* name : {"qwen2_vl", "qwen3_vl", "qwen3_vl_biased"}) {  // as transformers 5 saves them
    const std::string file = (agon::test::golden_path("qwen_vl") / name / "config.json").string();
    CHECK(parse_model_config(Json::parse(read_file(file)), file).text.vocab_size == 48);
  }
  const std::string path = (agon::test::golden_path("qwen_vl") / "qwen2_vl" / "config.json").string();
  const Json nested = Json::parse(read_file(path));
  Json flat = nested["text_config"];
  flat.update(nested);
  flat.erase("text_config");
  CHECK(to_json(parse_model_config(flat, path)).dump() == to_json(parse_model_config(nested, path)).dump());
  for (const Json& json : {qwen2_vl_config(), qwen3_vl_config()}) {
    const Json written = to_json(parse_model_config(json, "config.json"));
    CHECK(to_json(parse_model_config(Json::parse(written.dump()), "again")).dump() == written.dump());
  }
}

TEST_CASE("model_config: what of Qwen2-VL and Qwen3-VL is not computed is refused") {
  const auto with = [](Json json, const char* pointer, const Json& value) {
    json[Json::json_pointer(pointer)] = value;
    return config_error(json);
  };
  const Json second = qwen2_vl_config(), third = qwen3_vl_config();
  CHECK_THAT(with(second, "/vision_config/embed_dim", nullptr), Contains("vision_config.embed_dim: missing"));
  CHECK_THAT(with(second, "/vision_config/embed_dim", 1282), Contains("vision_config.embed_dim: 1282 is not a"));
  CHECK_THAT(with(second, "/vision_config/mlp_ratio", 0), Contains("vision_config.mlp_ratio: 0"));
  CHECK_THAT(with(second, "/vision_config/hidden_size", 1280), Contains("vision_config.hidden_size: 1280 is not the"));
  CHECK_THAT(with(second, "/vision_config/hidden_act", "gelu"), Contains("only \"quick_gelu\""));
  CHECK_THAT(with(second, "/rope_scaling/mrope_interleaved", true), Contains("mrope_interleaved: true"));
  CHECK_THAT(with(third, "/vision_config/hidden_act", "silu"), Contains("only \"gelu_pytorch_tanh\""));
  CHECK_THAT(with(third, "/vision_config/num_position_embeddings", 2305), Contains("2305 is not the square"));
  CHECK_THAT(with(third, "/vision_config/deepstack_visual_indexes", {5, 24}), Contains("deepstack_visual_indexes: 24"));
  CHECK_THAT(with(third, "/vision_config/deepstack_visual_indexes", {11, 5}), Contains("not an ascending list"));
  CHECK_THAT(with(third, "/vision_config/deepstack_visual_indexes", {5, 5}), Contains("not an ascending list"));
  CHECK_THAT(with(third, "/text_config/num_hidden_layers", 2), Contains("3 entries for a text of 2 layers"));
  CHECK_THAT(with(third, "/text_config/rope_scaling/mrope_interleaved", false), Contains("mrope_interleaved: false"));
  CHECK_THAT(with(third, "/vision_config/patch_size", {16, 16}), Contains("vision_config.patch_size"));
}

TEST_CASE("model_config: a wrong value is named") {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = hub_config();
    json[Json::json_pointer(pointer)] = value;
    return config_error(json);
  };
  CHECK_THAT(config_error(Json::array()), Contains("an object was expected"));
  CHECK_THAT(with("/model_type", "gpt2"),
             Contains("model_type: \"gpt2\" is not supported. agon knows llama, qwen2, qwen2_5_vl, qwen2_vl, qwen3, "
                      "qwen3_vl."));
  CHECK_THAT(with("/model_type", 3), Contains("model_type: 3 is not supported"));
  CHECK_THAT(with("/hidden_size", nullptr), Contains("config.json: hidden_size: missing"));
  CHECK_THAT(with("/hidden_size", "2048"), Contains("hidden_size: \"2048\" is not an integer"));
  CHECK_THAT(with("/hidden_size", 2048.5), Contains("hidden_size: 2048.5"));
  CHECK_THAT(with("/hidden_size", -4), Contains("hidden_size: -4"));
  CHECK_THAT(with("/vocab_size", 18446744073709551615ull), Contains("vocab_size: 18446744073709551615"));
  CHECK_THAT(with("/num_hidden_layers", 2'000'000'000), Contains("num_hidden_layers"));
  CHECK_THAT(with("/num_attention_heads", 7), Contains("does not give an even head size"));
  CHECK_THAT(with("/num_key_value_heads", 3), Contains("does not divide"));
  CHECK_THAT(with("/rms_norm_eps", 0), Contains("rms_norm_eps"));
  CHECK_THAT(with("/rope_theta", nullptr), Contains("rope_theta: missing"));
  CHECK_THAT(with("/rope_scaling", nullptr), Contains("rope_parameters.mrope_section: missing"));
  CHECK_THAT(with("/rope_scaling/mrope_section", {16, 24}), Contains("2 entries instead of 3"));
  CHECK_THAT(with("/rope_scaling/mrope_section", {16, 24, 25}), Contains("sum to 65 instead of half"));
  CHECK_THAT(with("/rope_scaling/mrope_section", "16"), Contains("rope_scaling.mrope_section"));
  CHECK_THAT(with("/rope_scaling/type", "yarn"), Contains("\"yarn\" is not supported"));
  CHECK_THAT(with("/hidden_act", "gelu"), Contains("hidden_act"));
  CHECK_THAT(with("/use_sliding_window", true), Contains("use_sliding_window"));
  CHECK_THAT(with("/tie_word_embeddings", 1), Contains("tie_word_embeddings: 1 is not true or false"));
  CHECK_THAT(with("/image_token_id", 151936), Contains("image_token_id: 151936 is not an integer from 0 to 151935"));
  CHECK_THAT(with("/eos_token_id", {1, 151936}), Contains("eos_token_id"));
  CHECK_THAT(with("/eos_token_id", Json::array()), Contains("eos_token_id: no id"));
  CHECK_THAT(with("/text_config", 4), Contains("text_config"));
  CHECK_THAT(with("/vision_config", nullptr), Contains("vision_config: missing"));
  CHECK_THAT(with("/vision_config/in_chans", 4), Contains("vision_config.in_channels: only 3"));
  CHECK_THAT(with("/vision_config/depth", 0), Contains("vision_config.depth: 0"));
  CHECK_THAT(with("/vision_config/num_heads", 15), Contains("vision_config.hidden_size"));
  CHECK_THAT(with("/vision_config/out_hidden_size", 1024), Contains("out_hidden_size: 1024 is not the text's"));
  CHECK_THAT(with("/vision_config/window_size", 20), Contains("vision_config.window_size: 20 is smaller"));
  CHECK_THAT(with("/vision_config/fullatt_block_indexes", {-1}), Contains("fullatt_block_indexes"));
}

}  // namespace
}  // namespace agon::agents
