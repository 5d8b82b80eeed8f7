#include "agents/learn/network/lora_file.h"

#include <vector>

#include "agents/hub/peft_adapter.h"
#include "agents/learn/network/tensor_views.h"
#include "core/file.h"

namespace agon::agents {

LoraFile read_lora(const std::filesystem::path& folder, const std::map<std::string, AdaptableLinear>& linears) {
  LinearShapes shapes;
  for (const auto& [module, linear] : linears) shapes[module] = {linear.weight.size(0), linear.weight.size(1)};
  const PeftAdapter adapter = open_peft_adapter(folder, shapes);
  LoraFile lora{adapter.config, {}};
  for (const auto& [module, matrices] : adapter.modules)
    lora.modules[module] = {to_tensor(matrices.a).to(at::kFloat), to_tensor(matrices.b).to(at::kFloat),
                            adapter.config.scale()};
  return lora;
}

void write_lora(const std::filesystem::path& folder, const LoraFile& lora, const std::string& base_model, bool sees) {
  make_folders(folder);
  TensorViews tensors;
  std::vector<std::string> modules;
  for (const auto& [module, low_rank] : lora.modules) {
    modules.push_back(module);
    tensors.add(peft_tensor_name(module, 'A', sees), low_rank.a);
    tensors.add(peft_tensor_name(module, 'B', sees), low_rank.b);
  }
  tensors.write(folder / kPeftTensorFile);
  PeftConfig config = lora.config;
  config.base_model = base_model;
  write_peft_config(folder, config, modules);
}

}  // namespace agon::agents
