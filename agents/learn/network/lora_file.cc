#include "agents/learn/network/lora_file.h"

#include <cmath>
#include <cstring>
#include <optional>

#include "agents/learn/network/tensor_views.h"
#include "core/error.h"
#include "core/file.h"
#include "core/json.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;

constexpr const char *kConfigFile = "adapter_config.json", *kTensorFile = "adapter_model.safetensors";
constexpr std::string_view kBaseModel = "base_model.model.";

// Settings of PEFT that change what an adapter computes or what its files hold. If one is set, the adapter is refused.
const std::vector<std::string> kUnsupported{"alora_invocation_tokens",
                                            "alpha_pattern",
                                            "fan_in_fan_out",
                                            "layer_replication",
                                            "lora_bias",
                                            "modules_to_save",
                                            "rank_pattern",
                                            "target_parameters",
                                            "trainable_token_indices",
                                            "use_bdlora",
                                            "use_dora",
                                            "use_qalora"};

bool is_unset(const Json& config, const std::string& key) {
  const auto found = config.find(key);
  return found == config.end() || found->is_null() || *found == false || (found->is_structured() && found->empty());
}

Json read_config(const fs::path& path) {
  const Json config = json_or_discarded(read_file(path.string()));
  if (!config.is_object()) throw Error("{}: not a JSON object.", path.string());
  if (config.value("peft_type", Json()) != "LORA")
    throw Error("{}: peft_type is {}, only LORA is read.", path.string(), config.value("peft_type", Json()).dump());
  for (const std::string& key : kUnsupported)
    if (!is_unset(config, key))
      throw Error("{}: '{}' is {}, which is not supported. Merge the adapter into its model with PEFT.", path.string(),
                  key, config[key].dump());
  if (const Json bias = config.value("bias", Json("none")); bias != "none")
    throw Error("{}: 'bias' is {}, only \"none\" is supported.", path.string(), bias.dump());
  return config;
}

double positive_number(const Json& config, const char* key, const fs::path& path) {
  const Json value = config.value(key, Json());
  if (!value.is_number() || value.get<double>() <= 0 || !std::isfinite(value.get<double>()))
    throw Error("{}: '{}' is {}, not a number above 0.", path.string(), key, value.dump());
  return value.get<double>();
}

// "base_model.model.model.language_model.layers.0.mlp.up_proj.lora_A.weight": the module by its hub name, and 'A'.
std::optional<std::pair<std::string, char>> parse_name(const std::string& name) {
  for (const char matrix : {'A', 'B'}) {
    const std::string ending = fmt::format(".lora_{}.weight", matrix);
    if (name.starts_with(kBaseModel) && name.ends_with(ending) && name.size() > kBaseModel.size() + ending.size())
      return std::pair(hub_name(name.substr(kBaseModel.size(), name.size() - kBaseModel.size() - ending.size())),
                       matrix);
  }
  return std::nullopt;
}

class LoraReader {
 public:
  LoraReader(const std::map<std::string, AdaptableLinear>& linears, LoraFile& lora) : linears_(linears), lora_(lora) {}

  void add(const std::string& name, const TensorView& view) {
    const auto parsed = parse_name(name);
    if (!parsed) return wrong("{}: not the name of a LoRA matrix", name);
    const auto& [module, matrix] = *parsed;
    const auto linear = linears_.find(module);
    if (linear == linears_.end()) return wrong("{}: the model has no linear {}", name, module);
    const std::int64_t outputs = linear->second.weight.size(0), inputs = linear->second.weight.size(1);
    const std::vector<std::int64_t> shape =
        matrix == 'A' ? std::vector{std::int64_t{lora_.rank}, inputs} : std::vector{outputs, std::int64_t{lora_.rank}};
    if (view.shape != shape)
      return wrong("{}: [{}] instead of [{}]", name, fmt::join(view.shape, ", "), fmt::join(shape, ", "));
    if (!weight_type_of(view.dtype)) return wrong("{}: type {}, not F32, F16 or BF16", name, view.dtype);
    LowRank& target = lora_.modules[module];
    (matrix == 'A' ? target.a : target.b) = to_tensor(view).to(at::kFloat);
  }

  void finish(const fs::path& path) {
    for (auto& [module, low_rank] : lora_.modules) {
      if (!low_rank.a.defined()) wrong("{}: no lora_A", module);
      if (!low_rank.b.defined()) wrong("{}: no lora_B", module);
      low_rank.scale = lora_.scale();
    }
    if (problems_.empty() && lora_.modules.empty()) wrong("no matrices");
    if (!problems_.empty())
      throw Error("{}: it does not fit the model:\n  {}\nIs the adapter of another model?", path.string(),
                  fmt::join(problems_, "\n  "));
  }

 private:
  template <typename... Values>
  void wrong(fmt::format_string<Values...> format, Values&&... values) {
    problems_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }
  const std::map<std::string, AdaptableLinear>& linears_;
  LoraFile& lora_;
  std::vector<std::string> problems_;
};

Json config_of(const LoraFile& lora, const std::string& base_model) {
  Json targets = Json::array();  // PEFT compares endings; these are the same in every release of transformers
  for (const auto& [module, low_rank] : lora.modules)
    targets.push_back(module.starts_with("model.") ? module.substr(strlen("model.")) : module);
  const Json alpha =
      lora.alpha == std::floor(lora.alpha) ? Json(static_cast<std::int64_t>(lora.alpha)) : Json(lora.alpha);
  return {{"base_model_name_or_path", base_model},
          {"bias", "none"},
          {"fan_in_fan_out", false},
          {"inference_mode", true},
          {"init_lora_weights", true},
          {"lora_alpha", alpha},
          {"lora_dropout", 0.0},
          {"modules_to_save", nullptr},
          {"peft_type", "LORA"},
          {"r", lora.rank},
          {"target_modules", targets},
          {"task_type", nullptr},
          {"use_dora", false},
          {"use_rslora", lora.rank_stabilised}};
}

}  // namespace

double LoraFile::scale() const { return alpha / (rank_stabilised ? std::sqrt(rank) : rank); }

LoraFile read_lora(const fs::path& folder, const std::map<std::string, AdaptableLinear>& linears) {
  const fs::path config_path = folder / kConfigFile, path = folder / kTensorFile;
  if (!fs::exists(config_path) || !fs::exists(path))
    throw Error("{}: no {}. Is it the folder of a LoRA adapter?", folder.string(),
                fs::exists(config_path) ? kTensorFile : kConfigFile);
  const Json config = read_config(config_path);
  LoraFile lora;
  const double rank = positive_number(config, "r", config_path);
  if (rank != std::floor(rank) || rank > 1 << 20) throw Error("{}: 'r' is {}.", config_path.string(), rank);
  lora.rank = static_cast<int>(rank);
  lora.alpha = positive_number(config, "lora_alpha", config_path);
  lora.rank_stabilised = !is_unset(config, "use_rslora");
  LoraReader reader(linears, lora);
  const auto file = SafetensorsFile::open(path);
  for (const auto& [name, view] : file->tensors()) reader.add(name, view);
  reader.finish(path);
  return lora;
}

void write_lora(const fs::path& folder, const LoraFile& lora, const std::string& base_model) {
  make_folders(folder);
  TensorViews tensors;
  for (const auto& [module, low_rank] : lora.modules)
    for (const auto& [letter, matrix] : {std::pair('A', low_rank.a), std::pair('B', low_rank.b)})
      tensors.add(fmt::format("{}{}.lora_{}.weight", kBaseModel, nested_name(module), letter), matrix);
  tensors.write(folder / kTensorFile);
  write_file_atomically((folder / kConfigFile).string(), config_of(lora, base_model).dump(2) + "\n");
}

}  // namespace agon::agents
