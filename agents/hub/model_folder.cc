#include "agents/hub/model_folder.h"

#include "agents/hub/gguf/model.h"
#include "agents/hub/gguf/tokenizer.h"
#include "agents/hub/json_file.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// The first of these files that exists in the folder; throws Error if none does.
fs::path find_file(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (fs::exists(folder / name)) return folder / name;
  throw Error("{}: no {}. Is it a model folder?", folder.string(), fmt::join(names, " or "));
}

constexpr const char* kVideoFile = "video_preprocessor_config.json";

// preprocessor_config.json, or the part of processor_config.json that newer releases save instead.
ImageProcessorConfig open_image_processor(const fs::path& folder) {
  const fs::path path = find_file(folder, {"preprocessor_config.json", "processor_config.json"});
  const Json json = read_json_file(path);
  const bool nested = json.is_object() && json.contains("image_processor");
  return parse_image_processor_config(nested ? json.at("image_processor") : json, path.string());
}

// The part of processor_config.json that newer releases save; else video_preprocessor_config.json; else the pictures'
// file, since older folders have no other.
VideoSettings open_video_settings(const fs::path& folder, const ImageProcessorConfig& images, const Tower& tower) {
  const fs::path nested = folder / "processor_config.json";
  if (fs::exists(nested))
    if (const Json json = read_json_file(nested); json.is_object() && json.contains("video_processor"))
      return parse_video_settings(json.at("video_processor"), nested.string(), images, tower);
  const fs::path path = find_file(folder, {kVideoFile, "preprocessor_config.json", "processor_config.json"});
  return parse_video_settings(read_json_file(path), path.string(), images, tower);
}

std::vector<std::string> special_tokens(const Tokenizer& tokenizer) {
  std::vector<std::string> tokens;
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (tokenizer.is_special(id)) tokens.push_back(tokenizer.token_bytes(id));
  return tokens;
}

// The tokens named in tokenizer_config.json, as variables for templates: {"bos_token": "<s>"}.
Json named_tokens(const fs::path& folder) {
  Json tokens = Json::object();
  const fs::path path = folder / "tokenizer_config.json";
  const Json json = fs::exists(path) ? read_json_file(path) : Json::object();
  for (const char* name :
       {"bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"}) {
    if (!json.is_object() || !json.contains(name)) continue;
    const Json& token = json.at(name);  // a text, or {"content": text}
    const Json& content = token.is_object() && token.contains("content") ? token.at("content") : token;
    if (content.is_string()) tokens[name] = content;
  }
  return tokens;
}

// Newer folders have the template in a file of its own, older ones as a text in a JSON file.
ChatTemplate open_chat_template(const fs::path& folder, const Tokenizer& tokenizer) {
  const fs::path path = find_file(folder, {"chat_template.jinja", "chat_template.json", "tokenizer_config.json"});
  const auto parse = [&](const std::string& jinja) {
    return ChatTemplate::parse(jinja, path.string(), special_tokens(tokenizer), named_tokens(folder));
  };
  if (path.extension() == ".jinja") return parse(read_small_file(path));
  const Json json = read_json_file(path);
  if (!json.is_object() || !json.contains("chat_template") || !json.at("chat_template").is_string())
    throw Error("{}: no text \"chat_template\", and no chat_template.jinja next to it.", path.string());
  return parse(json.at("chat_template").get<std::string>());
}

// generation_config.json, if present, overrides the end tokens of config.json: it may name more ids.
void read_generation_config(const fs::path& path, ModelConfig& config) {
  if (!fs::exists(path)) return;
  const Json json = read_json_file(path);
  if (!json.is_object()) throw Error("{}: not a JSON object.", path.string());
  if (!json.contains("eos_token_id")) return;
  const Json& eos = json.at("eos_token_id");
  std::vector<std::int32_t> ids;
  for (const Json& id : eos.is_array() ? eos : Json::array({eos})) {
    const auto whole = whole_number<std::int32_t>(id, 0, config.text.vocab_size - 1);
    if (!whole)
      throw Error("{}: eos_token_id {} is not an id below the vocabulary's size {}.", path.string(), eos.dump(),
                  config.text.vocab_size);
    ids.push_back(*whole);
  }
  if (!ids.empty()) config.eos_token_ids = ids;
}

void require_ends(const ModelConfig& config, const fs::path& folder) {
  if (config.eos_token_ids.empty())
    throw Error("{}: neither config.json nor generation_config.json has an eos_token_id, the token that ends a turn.",
                folder.string());
}

void check_patches(const ModelFolder& parts) {
  const auto same = [&](const char* what, int processor, int model) {
    if (processor != model)
      throw Error("{}: {} is {} in preprocessor_config.json and {} in config.json.", parts.path.string(), what,
                  processor, model);
  };
  same("patch_size", parts.images.patch_size, parts.config.vision->patch_size);
  same("temporal_patch_size", parts.images.temporal_patch_size, parts.config.vision->temporal_patch_size);
  same("merge_size", parts.images.merge_size, parts.config.vision->spatial_merge_size);
}

// Checks that the files of a folder describe one model.
void check_agreement(const ModelFolder& parts) {
  const std::string where = parts.path.string();
  const ModelConfig& config = parts.config;
  if (parts.tokenizer->vocab_size() > config.text.vocab_size)
    throw Error("{}: tokenizer.json has ids up to {}, config.json a vocabulary of {}.", where,
                parts.tokenizer->vocab_size() - 1, config.text.vocab_size);
  if (!config.vision) return;
  check_patches(parts);
  for (const auto& [token, id] :
       {std::pair("<|vision_start|>", config.vision_start_token_id),
        std::pair("<|vision_end|>", config.vision_end_token_id), std::pair("<|image_pad|>", config.image_token_id)})
    if (const auto known = parts.tokenizer->id_of(token); known != id)
      throw Error("{}: {} is {} in tokenizer.json and {} in config.json.", where, token,
                  known ? std::to_string(*known) : "missing", id);
}

std::int32_t pad_token(const ModelFolder& parts) {
  return parts.tokenizer->id_of("<|endoftext|>").value_or(parts.config.eos_token_ids.front());
}

Json tokenizer_config(const ModelFolder& parts) {
  const bool is_qwen = parts.config.model_type.starts_with("qwen");
  return {{"tokenizer_class", is_qwen ? "Qwen2Tokenizer" : "PreTrainedTokenizerFast"},
          {"add_prefix_space", false},
          {"bos_token", parts.chat.variables().value("bos_token", Json())},
          {"eos_token", parts.tokenizer->token_bytes(parts.config.eos_token_ids.front())},
          {"pad_token", parts.tokenizer->token_bytes(pad_token(parts))},
          {"unk_token", nullptr},
          {"clean_up_tokenization_spaces", false},
          {"errors", "replace"},
          {"model_max_length", parts.config.text.max_position_embeddings},
          {"chat_template", parts.chat.jinja()}};
}

Json generation_config(const ModelFolder& parts) {
  return {{"do_sample", true}, {"eos_token_id", parts.config.eos_token_ids}, {"pad_token_id", pad_token(parts)}};
}

ModelFolder open_gguf(const fs::path& path) {
  const auto file = GgufFile::open(path);
  const std::string source = path.string();
  ModelFolder parts;
  parts.path = path;
  const std::optional<GgufVision> vision = open_gguf_vision(path);
  parts.config = gguf_config(*file, vision ? &*vision : nullptr, source);
  if (parts.config.vision) {
    parts.images = parse_image_processor_config(gguf_image_processor(*vision->file, vision->source), vision->source);
    parts.images.video = default_video_settings(*parts.config.vision->tower);
    parts.images.video.mean = parts.images.mean, parts.images.video.std = parts.images.std;
  }
  parts.tokenizer = open_gguf_tokenizer(file, source);
  parts.chat = ChatTemplate::parse(gguf_chat_template(*file, source), source, special_tokens(*parts.tokenizer),
                                   gguf_named_tokens(*file));
  check_agreement(parts);
  return parts;
}

}  // namespace

TextFolder open_text_folder(const fs::path& folder) {
  const fs::path tokenizer = find_file(folder, {"tokenizer.json"});
  TextFolder parts{Tokenizer::parse(read_small_file(tokenizer), tokenizer.string()), {}, {}};
  parts.chat = open_chat_template(folder, *parts.tokenizer);
  parts.bos = named_tokens(folder).value("bos_token", "");
  return parts;
}

namespace {

ModelConfig open_hub_config(const fs::path& folder) {
  const fs::path path = find_file(folder, {"config.json"});
  ModelConfig config = parse_model_config(read_json_file(path), path.string());
  read_generation_config(folder / "generation_config.json", config);
  require_ends(config, folder);
  return config;
}

ModelFolder open_hub_folder(const fs::path& folder) {
  ModelFolder parts;
  parts.path = folder;
  parts.config = open_hub_config(folder);
  if (parts.config.vision) {
    parts.images = open_image_processor(folder);
    check_patches(parts);
    parts.images.video = open_video_settings(folder, parts.images, *parts.config.vision->tower);
  }
  TextFolder text = open_text_folder(folder);
  parts.tokenizer = std::move(text.tokenizer);
  parts.chat = std::move(text.chat);
  check_agreement(parts);
  return parts;
}

}  // namespace

ModelFolder open_model_folder(const fs::path& folder, std::optional<Resampler> resampler) {
  const auto gguf = find_gguf(folder);
  ModelFolder parts = gguf ? open_gguf(*gguf) : open_hub_folder(folder);
  if (resampler) parts.images.resampler = *resampler;
  return parts;
}

ModelConfig open_model_config(const fs::path& path) {
  const auto gguf = find_gguf(path);
  if (!gguf) return open_hub_config(path);
  const std::optional<GgufVision> vision = open_gguf_vision(*gguf);
  return gguf_config(*GgufFile::open(*gguf), vision ? &*vision : nullptr, gguf->string());
}

void save_model_files(const fs::path& folder, const ModelFolder& parts, const std::string& dtype) {
  check_agreement(parts);
  make_folders(folder);
  Json config = to_json(parts.config);
  config["dtype"] = dtype;
  const auto write = [&](const char* name, const std::string& text) {
    write_file_atomically((folder / name).string(), text);
  };
  write("config.json", config.dump(2) + "\n");
  write("generation_config.json", generation_config(parts).dump(2) + "\n");
  if (parts.config.vision) {
    write("preprocessor_config.json", to_json(parts.images).dump(2) + "\n");
    write(kVideoFile, video_processor_json(parts.images).dump(2) + "\n");
  }
  write("tokenizer.json", parts.tokenizer->json());
  write("tokenizer_config.json", tokenizer_config(parts).dump(2) + "\n");
  write("chat_template.jinja", parts.chat.jinja());
}

}  // namespace agon::agents
