#include "agents/hub/peft_config.h"

#include <algorithm>
#include <cmath>

#include "agents/hub/hub_cache.h"
#include "agents/hub/json_file.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

// Settings that change what an adapter computes or what its files hold. If one is set, the adapter is refused.
constexpr const char* kUnsupported[] = {"alora_invocation_tokens",
                                        "alpha_pattern",
                                        "arrow_config",
                                        "fan_in_fan_out",
                                        "kasa_config",
                                        "layer_replication",
                                        "layers_pattern",
                                        "lora_bias",
                                        "modules_to_save",
                                        "monteclora_config",
                                        "rank_pattern",
                                        "target_parameters",
                                        "trainable_token_indices",
                                        "use_bdlora",
                                        "use_dora",
                                        "use_qalora"};
// Prefixes of "init_lora_weights" values with which the base's weights were changed before training.
constexpr const char* kChangedBases[] = {"pissa", "olora", "corda", "loftq", "lora_ga"};

bool is_unset(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() || *found == false || (found->is_structured() && found->empty());
}

// The keys of one file.
class ConfigKeys {
 public:
  ConfigKeys(const Json& json, const fs::path& path) : json_(json), path_(path) {}

  void require_supported() const {
    if (const Json type = get("peft_type"); type != "LORA") throw wrong("peft_type", "only LORA is read");
    for (const char* key : kUnsupported)
      if (!is_unset(json_, key)) throw wrong(key, "which is not supported. Merge the adapter into its model with PEFT");
    if (const Json bias = json_.value("bias", Json("none")); bias != "none")
      throw wrong("bias", "only \"none\" is supported");
    const Json drawn = get("init_lora_weights");
    for (const char* name : kChangedBases)
      if (drawn.is_string() && drawn.get<std::string>().starts_with(name))
        throw wrong("init_lora_weights", "which changes the base. Convert the adapter to plain LoRA with PEFT");
  }
  double positive(const char* key) const {
    const Json value = get(key);
    if (!value.is_number() || value.get<double>() <= 0 || !std::isfinite(value.get<double>()))
      throw wrong(key, "not a number above 0");
    return value.get<double>();
  }
  int rank() const {
    constexpr int kMost = 1 << 20;
    positive("r");
    const auto rank = whole_number<int>(get("r"), 1, kMost);
    if (!rank) throw wrong("r", "not a whole number");
    return *rank;
  }
  std::string text(const char* key) const {
    const Json value = get(key);
    if (!value.is_null() && !value.is_string()) throw wrong(key, "not a text");
    return value.is_null() ? "" : value.get<std::string>();
  }
  bool flag(const char* key) const { return !is_unset(json_, key); }
  PeftTargets targets() const {
    PeftTargets targets;
    const Json wanted = get("target_modules");
    if (wanted.is_null()) throw wrong("target_modules", "and the adapted linears must be given");
    targets.all = wanted == "all-linear";
    if (!targets.all) targets.chosen = names("target_modules");
    targets.excluded = names("exclude_modules");
    const Json layers = get("layers_to_transform");
    for (const Json& layer : layers.is_array() ? layers : layers.is_null() ? Json::array() : Json::array({layers})) {
      const auto index = whole_number<int>(layer, 0, 1 << 20);
      if (!index) throw wrong("layers_to_transform", "not the index of a layer, or a list of such");
      targets.layers.push_back(*index);
    }
    return targets;
  }

 private:
  Json get(const char* key) const { return json_.value(key, Json()); }
  Error wrong(const char* key, const char* why) const {
    return Error("{}: '{}' is {}, {}.", path_.string(), key, to_text(get(key)), why);
  }
  ModuleNames names(const char* key) const {
    const Json value = get(key);
    if (value.is_null()) return {};
    if (value.is_string()) return {{}, pattern(key, value.get<std::string>())};
    if (!value.is_array() ||
        !std::all_of(value.begin(), value.end(), [](const Json& name) { return name.is_string(); }))
      throw wrong(key, "not a list of names or a regular expression");
    return {value.get<std::vector<std::string>>(), std::nullopt};
  }
  NamePattern pattern(const char* key, const std::string& text) const {
    try {
      return NamePattern(text);
    } catch (const Error&) {
      throw wrong(key, "not a regular expression that agon reads. List the names in its place");
    }
  }
  const Json& json_;
  const fs::path& path_;
};

// The number of the layer that a module is in, by PEFT's rule; nullopt if it is in none.
std::optional<int> layer_of(const std::string& module) {
  constexpr std::size_t kMostDigits = 6;
  const std::vector<std::string> parts = split(module, ".");
  for (std::size_t i = parts.size(); i-- > 3;) {
    const std::string& part = parts[i - 1];
    const bool is_number = !part.empty() && part.size() <= kMostDigits &&
                           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) return std::stoi(part);
  }
  return std::nullopt;
}

// Whole numbers are written without a decimal point, as PEFT does.
Json plain_number(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

// The part of each name that is the same in every release of transformers.
Json target_names(std::span<const std::string> modules) {
  constexpr std::string_view kBeginning = "model.";
  Json names = Json::array();
  for (const std::string& module : modules)
    names.push_back(module.starts_with(kBeginning) ? module.substr(kBeginning.size()) : module);
  return names;
}

std::optional<fs::path> find_in_cache(const std::string& name) {
  try {
    return find_cached(parse_hub_name(name));
  } catch (const Error&) {  // not a name on the hub
    return std::nullopt;
  }
}

}  // namespace

bool ModuleNames::contain(const std::string& module) const {
  if (pattern) return pattern->matches(module);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return module == name || module.ends_with("." + name); });
}

bool PeftTargets::contain(const std::string& module) const {
  if (excluded.contain(module) || !(all || chosen.contain(module))) return false;
  if (layers.empty()) return true;
  const std::optional<int> layer = layer_of(module);
  return layer && std::find(layers.begin(), layers.end(), *layer) != layers.end();
}

double PeftConfig::scale() const { return alpha / (rank_stabilised ? std::sqrt(rank) : rank); }

bool is_adapter_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / kPeftConfigFile, ignored) && !fs::exists(folder / "config.json", ignored);
}

PeftConfig read_peft_config(const fs::path& folder) {
  const fs::path path = folder / kPeftConfigFile;
  if (!fs::exists(path))
    throw Error("{}: no {}. Is it the folder of a LoRA adapter?", folder.string(), kPeftConfigFile);
  const Json json = json_or_discarded(read_small_file(path));
  if (!json.is_object()) throw Error("{}: not a JSON object.", path.string());
  const ConfigKeys keys(json, path);
  keys.require_supported();
  return {keys.text("base_model_name_or_path"), keys.rank(), keys.positive("lora_alpha"), keys.flag("use_rslora"),
          keys.targets()};
}

void write_peft_config(const fs::path& folder, const PeftConfig& config, std::span<const std::string> modules) {
  const Json json{{"base_model_name_or_path", config.base_model},
                  {"bias", "none"},
                  {"fan_in_fan_out", false},
                  {"inference_mode", true},
                  {"init_lora_weights", true},
                  {"lora_alpha", plain_number(config.alpha)},
                  {"lora_dropout", 0.0},
                  {"modules_to_save", nullptr},
                  {"peft_type", "LORA"},
                  {"r", config.rank},
                  {"target_modules", target_names(modules)},
                  {"task_type", nullptr},
                  {"use_dora", false},
                  {"use_rslora", config.rank_stabilised}};
  write_file_atomically((folder / kPeftConfigFile).string(), json.dump(2) + "\n");
}

fs::path base_of_adapter(const fs::path& folder) {
  const std::string base = read_peft_config(folder).base_model;
  const fs::path config = folder / kPeftConfigFile;
  if (base.empty())
    throw Error("{}: no 'base_model_name_or_path'. Write the folder of the adapter's base there.", config.string());
  for (const fs::path& place : {folder / base, fs::path(base)})
    if (fs::exists(place)) return place.lexically_normal();
  if (const auto cached = find_in_cache(base)) return *cached;
  throw Error(
      "{}: the base model {} is neither at {} nor in the current folder, nor in the hub's cache. Correct "
      "'base_model_name_or_path', or fetch the model with agon pull.",
      config.string(), base, (folder / base).string());
}

}  // namespace agon::agents
