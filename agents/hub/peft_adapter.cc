#include "agents/hub/peft_adapter.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "agents/hub/checkpoint_tensors.h"
#include "core/error.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModel = "base_model.model.", kText = "model.", kVision = "visual.";

// The name of a module in transformers 5, for a model with a vision tower.
std::string newer_name(const std::string& module) {
  return module.starts_with(kVision) ? "model." + module : "model.language_model." + module.substr(kText.size());
}

// "base_model.model.model.language_model.layers.0.mlp.up_proj.lora_A.weight" -> the module as named there, and 'A'.
std::optional<std::pair<std::string, char>> parse_name(const std::string& name) {
  for (const char matrix : {'A', 'B'}) {
    const std::string ending = fmt::format(".lora_{}.weight", matrix);
    if (name.starts_with(kModel) && name.ends_with(ending) && name.size() > kModel.size() + ending.size())
      return std::pair(name.substr(kModel.size(), name.size() - kModel.size() - ending.size()), matrix);
  }
  return std::nullopt;
}

bool is_finite(const TensorView& view) {
  const std::vector<float> values = values_of({view});
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// Collects problems, which finish() throws as one Error.
class AdapterReader {
 public:
  AdapterReader(const LinearShapes& linears, PeftAdapter& adapter) : linears_(linears), adapter_(adapter) {}

  void add(const std::string& name, const TensorView& view) {
    const auto parsed = parse_name(name);
    if (!parsed) return wrong("{}: not the name of a LoRA matrix", name);
    const auto& [written, matrix] = *parsed;
    const std::string module = hub_name(written);
    const auto linear = linears_.find(module);
    if (linear == linears_.end()) return wrong("{}: the model has no linear {}", name, module);
    if (module != written) is_newer_ = true;
    check(name, view,
          matrix == 'A' ? LinearShape{adapter_.config.rank, linear->second.inputs}
                        : LinearShape{linear->second.outputs, adapter_.config.rank});
    PeftMatrices& matrices = adapter_.modules[module];
    TensorView& target = matrix == 'A' ? matrices.a : matrices.b;
    if (!target.shape.empty()) wrong("{}: twice, by two names of its module", name);
    target = view;
  }

  void finish(const fs::path& path) {
    for (const auto& [module, matrices] : adapter_.modules) {
      if (matrices.a.shape.empty()) wrong("{}: no lora_A", module);
      if (matrices.b.shape.empty()) wrong("{}: no lora_B", module);
    }
    if (adapter_.modules.empty()) wrong("no matrices");
    if (problems_.empty()) check_targets();
    if (problems_.empty()) return;
    const std::size_t more = problems_.size() - std::min(problems_.size(), kMostTold);
    problems_.resize(problems_.size() - more);
    throw Error("{}: it does not fit the model:\n  {}{}\nIs the adapter of another model?", path.string(),
                fmt::join(problems_, "\n  "), more == 0 ? "" : fmt::format("\n  and {} more", more));
  }

 private:
  static constexpr std::size_t kMostTold = 50;

  void check(const std::string& name, const TensorView& view, const LinearShape& shape) {
    const std::vector<std::int64_t> wanted{shape.outputs, shape.inputs};
    const TensorType* const type = find_tensor_type(view.dtype);
    if (view.shape != wanted)
      wrong("{}: [{}] instead of [{}]", name, fmt::join(view.shape, ", "), fmt::join(wanted, ", "));
    else if (type == nullptr || type->format)
      wrong("{}: type {}, not F32, F16 or BF16", name, view.dtype);
    else if (!is_finite(view))
      wrong("{}: values that are not finite", name);
  }
  // The config and the matrices must name the same linears. Otherwise part of the adapter would be ignored silently.
  void check_targets() {
    for (const auto& [module, shape] : linears_) {
      const bool wanted = adapter_.config.targets.contain(is_newer_ ? newer_name(module) : module);
      if (wanted && !adapter_.modules.contains(module)) wrong("{}: in 'target_modules', and without matrices", module);
      if (!wanted && adapter_.modules.contains(module)) wrong("{}: matrices, and not in 'target_modules'", module);
    }
  }
  template <typename... Values>
  void wrong(fmt::format_string<Values...> format, Values&&... values) {
    problems_.push_back(fmt::format(format, std::forward<Values>(values)...));
  }
  const LinearShapes& linears_;
  PeftAdapter& adapter_;
  bool is_newer_ = false;  // the file has names of transformers 5
  std::vector<std::string> problems_;
};

void add_gated_mlp(LinearShapes& linears, const std::string& name, std::int64_t hidden, std::int64_t inner) {
  linears[name + ".gate_proj"] = linears[name + ".up_proj"] = {inner, hidden};
  linears[name + ".down_proj"] = {hidden, inner};
}

void add_vision_block(LinearShapes& linears, const std::string& name, const VisionConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const Tower& tower = *config.tower;
  linears[name + ".attn.qkv"] = {3 * hidden, hidden};
  linears[name + ".attn.proj"] = {hidden, hidden};
  if (tower.mlp == Mlp::swiglu) return add_gated_mlp(linears, name + ".mlp", hidden, inner);
  linears[fmt::format("{}.mlp.{}", name, tower.mlp_in)] = {inner, hidden};
  linears[fmt::format("{}.mlp.{}", name, tower.mlp_out)] = {hidden, inner};
}

void add_merger(LinearShapes& linears, const std::string& name, const VisionConfig& config) {
  const std::int64_t merged = std::int64_t{config.hidden_size} * config.spatial_merge_size * config.spatial_merge_size;
  linears[fmt::format("{}.{}", name, config.tower->merger_in)] = {merged, merged};
  linears[fmt::format("{}.{}", name, config.tower->merger_out)] = {config.out_hidden_size, merged};
}

void add_vision(LinearShapes& linears, const VisionConfig& config) {
  for (int i = 0; i < config.depth; ++i) add_vision_block(linears, fmt::format("visual.blocks.{}", i), config);
  add_merger(linears, "visual.merger", config);
  for (std::size_t i = 0; i < config.deepstack_blocks.size(); ++i)
    add_merger(linears, fmt::format("visual.deepstack_merger_list.{}", i), config);
}

}  // namespace

LinearShapes adaptable_linears(const ModelConfig& config) {
  LinearShapes linears;
  const TextConfig& text = config.text;
  const std::int64_t hidden = text.hidden_size, size = text.head_dim();
  for (int i = 0; i < text.num_hidden_layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}", i), attention = layer + ".self_attn.";
    linears[attention + "q_proj"] = {text.num_attention_heads * size, hidden};
    linears[attention + "k_proj"] = linears[attention + "v_proj"] = {text.num_key_value_heads * size, hidden};
    linears[attention + "o_proj"] = {hidden, text.num_attention_heads * size};
    add_gated_mlp(linears, layer + ".mlp", hidden, text.intermediate_size);
  }
  if (config.vision) add_vision(linears, *config.vision);
  return linears;
}

PeftAdapter open_peft_adapter(const fs::path& folder, const LinearShapes& linears) {
  PeftAdapter adapter{read_peft_config(folder), {}, {}};
  const fs::path path = folder / kPeftTensorFile;
  if (!fs::exists(path))
    throw Error("{}: no {}. Is it the folder of a LoRA adapter?", folder.string(), kPeftTensorFile);
  adapter.file = SafetensorsFile::open(path);
  AdapterReader reader(linears, adapter);
  for (const auto& [name, view] : adapter.file->tensors()) reader.add(name, view);
  reader.finish(path);
  return adapter;
}

std::string peft_tensor_name(const std::string& module, char matrix, bool sees) {
  return fmt::format("{}{}.lora_{}.weight", kModel, sees ? newer_name(module) : module, matrix);
}

}  // namespace agon::agents
