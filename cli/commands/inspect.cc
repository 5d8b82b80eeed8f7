#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/engine/packed_rows.h"
#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/gguf_model.h"
#include "agents/hub/model_folder.h"
#include "agents/model_fingerprint.h"
#include "cli/commands/commands.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/text.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;
using agents::WeightKind;

constexpr std::pair<const char*, WeightKind> kKinds[] = {{"auto", WeightKind::automatic},
                                                         {"f32", WeightKind::f32},
                                                         {"bf16", WeightKind::bf16},
                                                         {"q8", WeightKind::q8},
                                                         {"q4", WeightKind::q4}};

std::int64_t values_in(const agents::CheckpointTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t side : tensor.view.shape) count *= side;
  return count;
}

// A linear or an embedding, whose type --weights chooses; a tied head that the file repeats is not loaded.
bool is_linear(const std::string& name, const agents::CheckpointTensor& tensor) {
  return tensor.view.shape.size() == 2 && name.ends_with(".weight");
}

std::int64_t loaded_bytes(const agents::CheckpointTensors& tensors, const agents::ModelConfig& config,
                          WeightKind kind) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors.by_name) {
    if (config.text.tie_word_embeddings && name == "lm_head.weight") continue;
    const bool word = name == "lm_head.weight" || name == "model.embed_tokens.weight";
    const WeightKind own = word && kind == WeightKind::q4 ? WeightKind::q8 : kind;
    bytes += is_linear(name, tensor) ? agents::packed_bytes(tensor, own) : 4 * values_in(tensor);
  }
  return bytes;
}

struct TypeCount {
  std::int64_t tensors = 0, bytes = 0;
};

Json types_json(const agents::CheckpointTensors& tensors) {
  std::map<std::string, TypeCount> types;
  for (const auto& [name, tensor] : tensors.by_name) {
    TypeCount& type = types[tensor.view.dtype];
    ++type.tensors;
    type.bytes += std::ssize(tensor.view.bytes);
  }
  Json json = Json::array();
  for (const auto& [name, type] : types)
    json.push_back({{"type", name}, {"tensors", type.tensors}, {"bytes", type.bytes}});
  return json;
}

Json text_json(const agents::TextConfig& text) {
  return {{"layers", text.num_hidden_layers},
          {"width", text.hidden_size},
          {"heads", text.num_attention_heads},
          {"key_value_heads", text.num_key_value_heads},
          {"head_size", text.head_dim()},
          {"inner_width", text.intermediate_size},
          {"tied", text.tie_word_embeddings},
          {"context", text.max_position_embeddings},
          {"key_value_bytes_per_token", 8ll * text.num_hidden_layers * text.num_key_value_heads * text.head_dim()}};
}

Json tokenizer_json(const agents::ModelFolder& parts) {
  Json ends = Json::array();
  for (const std::int32_t id : parts.config.eos_token_ids) ends.push_back(valid_utf8(parts.tokenizer->token_bytes(id)));
  return {{"vocabulary", parts.tokenizer->vocab_size()}, {"end_tokens", std::move(ends)}};
}

Json facts_of(const fs::path& path) {
  const agents::ModelFolder parts = agents::open_model_folder(path);
  const agents::CheckpointTensors tensors = agents::open_checkpoint_tensors(path, parts.config);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : tensors.by_name) parameters += values_in(tensor);
  Json memory = Json::object();
  for (const auto& [name, kind] : kKinds) memory[name] = loaded_bytes(tensors, parts.config, kind);
  Json facts{{"path", path.string()},
             {"form", agents::find_gguf(path) ? "gguf" : "hub folder"},
             {"model_type", parts.config.model_type},
             {"parameters", parameters},
             {"tensors", tensors.by_name.size()},
             {"types", types_json(tensors)},
             {"text", text_json(parts.config.text)},
             {"vision", nullptr},
             {"memory", std::move(memory)},
             {"tokenizer", tokenizer_json(parts)},
             {"template", {{"bytes", parts.chat.jinja().size()}, {"takes_tools", parts.chat.takes_tools()}}},
             {"fingerprint", agents::model_fingerprint(path)}};
  if (parts.config.vision)
    facts["vision"] = {{"layers", parts.config.vision->depth},
                       {"width", parts.config.vision->hidden_size},
                       {"patch_size", parts.config.vision->patch_size}};
  return facts;
}

std::string megabytes(const Json& bytes) { return fmt::format("{:.1f} MB", bytes.get<double>() * 1e-6); }

void print_row(const char* name, const std::string& value) { print_text(fmt::format("{:<12}{}\n", name, value)); }

void print_facts(const Json& facts) {
  const Json &text = facts["text"], &tokenizer = facts["tokenizer"];
  std::vector<std::string> types, memory, ends;
  for (const Json& type : facts["types"])
    types.push_back(fmt::format("{} {} in {} tensors", type["type"].get<std::string>(), megabytes(type["bytes"]),
                                type["tensors"].get<int>()));
  for (const auto& [name, bytes] : facts["memory"].items()) memory.push_back(name + " " + megabytes(bytes));
  for (const Json& end : tokenizer["end_tokens"]) ends.push_back(end.get<std::string>());
  print_row("model", fmt::format("{}: {}, {}", facts["path"].get<std::string>(), facts["form"].get<std::string>(),
                                 facts["model_type"].get<std::string>()));
  print_row("parameters", fmt::format("{:.3f} million in {} tensors", facts["parameters"].get<double>() * 1e-6,
                                      facts["tensors"].get<int>()));
  print_row("types", fmt::format("{}", fmt::join(types, ", ")));
  print_row("text", fmt::format("{} layers of {}, {} heads of {}, {} of keys and values; {} within{}",
                                text["layers"].get<int>(), text["width"].get<int>(), text["heads"].get<int>(),
                                text["head_size"].get<int>(), text["key_value_heads"].get<int>(),
                                text["inner_width"].get<int>(), text["tied"] == true ? "; tied" : ""));
  if (!facts["vision"].is_null())
    print_row("vision", fmt::format("{} layers of {}, patches of {} pixels", facts["vision"]["layers"].get<int>(),
                                    facts["vision"]["width"].get<int>(), facts["vision"]["patch_size"].get<int>()));
  print_row("context", fmt::format("{} tokens; keys and values take {:.1f} KB for each", text["context"].get<int>(),
                                   text["key_value_bytes_per_token"].get<double>() * 1e-3));
  print_row("weights", fmt::format("by --weights: {}", fmt::join(memory, ", ")));
  print_row("tokenizer",
            fmt::format("{} tokens; {} ends a turn", tokenizer["vocabulary"].get<int>(), fmt::join(ends, " or ")));
  print_row("template", fmt::format("{} bytes{}", facts["template"]["bytes"].get<int>(),
                                    facts["template"]["takes_tools"] == true ? ", takes tools" : ""));
  print_row("hash", facts["fingerprint"].get<std::string>());
}

}  // namespace

void add_inspect(CLI::App& app) {
  struct Flags {
    std::string path;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a checkpoint is, and what it would take to load");
  command->add_option("PATH", flags->path, std::string("Model folder or GGUF file (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags] {
    const Json facts = facts_of(find_model_folder(flags->path));
    flags->json ? print_measured(facts) : print_facts(facts);
  });
}

}  // namespace agon::cli
