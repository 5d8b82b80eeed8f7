#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/engine/memory_plan.h"
#include "agents/engine/weight_comparison.h"
#include "agents/engine/weights.h"
#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/gguf/model.h"
#include "agents/hub/model_folder.h"
#include "agents/model_fingerprint.h"
#include "cli/commands/commands.h"
#include "cli/flags/memory_flags.h"
#include "cli/flags/usage.h"
#include "cli/model_folder.h"
#include "cli/output.h"
#include "cli/provenance.h"
#include "core/progress.h"
#include "core/text.h"

namespace agon::cli {
namespace {

namespace fs = std::filesystem;
using agents::WeightKind;

struct InspectFlags {
  std::string path;
  MemoryFlags memory;
  std::vector<std::string> compare;
  bool json = false;
};

std::int64_t values_in(const agents::CheckpointTensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t side : tensor.view.shape) count *= side;
  return count;
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

Json text_json(const agents::TextConfig& text, kernels::KeyType keys) {
  return {{"layers", text.num_hidden_layers},
          {"width", text.hidden_size},
          {"heads", text.num_attention_heads},
          {"key_value_heads", text.num_key_value_heads},
          {"head_size", text.head_dim()},
          {"inner_width", text.intermediate_size},
          {"tied", text.tie_word_embeddings},
          {"context", text.max_position_embeddings},
          {"key_value_bytes_per_token", agents::PagePool::bytes_for(text, keys) / kernels::kKeyBlock}};
}

Json tokenizer_json(const agents::ModelFolder& parts) {
  Json ends = Json::array();
  for (const std::int32_t id : parts.config.eos_token_ids) ends.push_back(valid_utf8(parts.tokenizer->token_bytes(id)));
  return {{"vocabulary", parts.tokenizer->vocab_size()}, {"end_tokens", std::move(ends)}};
}

Json plan_json(const agents::MemoryPlan& plan, const agents::MemoryWish& wish) {
  return {{"weights", agents::name_of(wish.weights)},
          {"kv", agents::name_of(wish.keys)},
          {"limit_bytes", plan.limit},
          {"weight_bytes", plan.weight_bytes},
          {"key_value_bytes", plan.key_value_bytes},
          {"key_value_tokens", plan.tokens()},
          {"fits", plan.fits()}};
}

Json facts_of(const agents::PolicySource& source, const agents::ModelFolder& parts) {
  const fs::path& path = source.folder;
  const agents::CheckpointTensors tensors = agents::open_checkpoint_tensors(path, parts.config);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : tensors.by_name) parameters += values_in(tensor);
  const agents::MemoryWish wish = source.backend_options().memory;
  const agents::MemoryPlan plan = agents::plan_memory(tensors, parts.config, wish);
  Json memory = Json::object();
  for (std::size_t kind = 0; kind < plan.by_kind.size(); ++kind)
    memory[std::string(agents::name_of(static_cast<WeightKind>(kind)))] = plan.by_kind[kind];
  Json facts{{"path", path.string()},
             {"form", agents::find_gguf(path) ? "gguf" : "hub folder"},
             {"model_type", parts.config.model_type},
             {"parameters", parameters},
             {"tensors", tensors.by_name.size()},
             {"types", types_json(tensors)},
             {"text", text_json(parts.config.text, source.choices.keys)},
             {"vision", nullptr},
             {"memory", std::move(memory)},
             {"plan", plan_json(plan, wish)},
             {"tokenizer", tokenizer_json(parts)},
             {"template", {{"bytes", parts.chat.jinja().size()}, {"takes_tools", parts.chat.takes_tools()}}},
             {"fingerprint", agents::model_fingerprint(path)}};
  if (parts.config.vision)
    facts["vision"] = {{"layers", parts.config.vision->depth},
                       {"width", parts.config.vision->hidden_size},
                       {"patch_size", parts.config.vision->patch_size}};
  return facts;
}

Json compare_json(const agents::PolicySource& source, const agents::ModelFolder& parts,
                  const std::vector<std::string>& names) {
  std::vector<WeightKind> kinds;
  for (const std::string& name : names) kinds.push_back(agents::find_weight_kind(name).value());
  Progress progress("inspect: f32 and others", std::ssize(kinds) + 1, "models");
  Json json = Json::array();
  for (const agents::WeightDifference& one :
       agents::compare_weights(parts, kinds, source.backend_options().memory, [&] { progress.add(1); }))
    json.push_back({{"weights", agents::name_of(one.weights)},
                    {"kv", agents::name_of(source.choices.keys)},
                    {"weight_bytes", one.weight_bytes},
                    {"tokens", one.tokens},
                    {"mean_difference", one.mean},
                    {"largest_difference", one.largest},
                    {"equal_greedy", one.equal_greedy}});
  return json;
}

std::string megabytes(const Json& bytes) { return fmt::format("{:.1f} MB", bytes.get<double>() * 1e-6); }

void print_row(const char* name, const std::string& value) { print_text(fmt::format("{:<12}{}\n", name, value)); }

std::string plan_text(const Json& plan) {
  const std::string weights = fmt::format("weights {}", megabytes(plan["weight_bytes"]));
  if (plan["fits"] == false) return fmt::format("{} do not fit into {}", weights, megabytes(plan["limit_bytes"]));
  return fmt::format("{}, KV for {} tokens in {}", weights, plan["key_value_tokens"].get<std::int64_t>(),
                     megabytes(plan["key_value_bytes"]));
}

void print_comparison(const Json& rows) {
  print_text(fmt::format("\nagainst f32, on {} tokens of texts:\n", rows.at(0)["tokens"].get<std::int64_t>()));
  print_text(fmt::format("{:<8} {:<5} {:>12}  {:>10} {:>10}  {:>12}\n", "weights", "kv", "memory", "mean", "largest",
                         "equal greedy"));
  for (const Json& row : rows)
    print_text(fmt::format("{:<8} {:<5} {:>12}  {:>10.6f} {:>10.6f}  {:>10.1f} %\n", row["weights"].get<std::string>(),
                           row["kv"].get<std::string>(), megabytes(row["weight_bytes"]),
                           row["mean_difference"].get<double>(), row["largest_difference"].get<double>(),
                           row["equal_greedy"].get<double>() * 100));
}

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
  print_row("memory", plan_text(facts["plan"]));
  print_row("tokenizer",
            fmt::format("{} tokens; {} ends a turn", tokenizer["vocabulary"].get<int>(), fmt::join(ends, " or ")));
  print_row("template", fmt::format("{} bytes{}", facts["template"]["bytes"].get<int>(),
                                    facts["template"]["takes_tools"] == true ? ", takes tools" : ""));
  print_row("hash", facts["fingerprint"].get<std::string>());
}

void inspect(const InspectFlags& flags) {
  agents::PolicySource source = find_model_folder(flags.path);
  use_memory(source, flags.memory);
  const agents::ModelFolder parts = agents::open_model_folder(source.folder);
  agents::check_engine_weights(source.folder, parts.config);
  Json facts = facts_of(source, parts);
  if (!flags.compare.empty()) facts["compare"] = compare_json(source, parts, flags.compare);
  if (flags.json) return print_measured(facts);
  print_facts(facts);
  if (!flags.compare.empty()) print_comparison(facts["compare"]);
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a checkpoint is, and what it would take to load");
  command->add_option("PATH", flags->path, std::string("Model folder or GGUF file (default: ") + kDefaultModel + ")")
      ->type_name("<path>");
  add_memory_options(*command, flags->memory);
  command
      ->add_option("--compare", flags->compare,
                   "Types of weights whose log-probabilities to compare with those of f32: auto, f32, bf16, q8, q4")
      ->type_name("<name,..>")
      ->delimiter(',')
      ->check(one_of({std::begin(agents::kWeightKinds), std::end(agents::kWeightKinds)}));
  command->add_flag("--json", flags->json, "Print one JSON object");
  command->callback([flags] { inspect(*flags); });
}

}  // namespace agon::cli
