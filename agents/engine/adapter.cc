#include "agents/engine/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/peft_adapter.h"

namespace agon::agents {
namespace {

// Packs the matrices of an adapter.
class Packing {
 public:
  Packing(const PeftAdapter& adapter, const LinearShapes& linears) : adapter_(adapter), linears_(linears) {}

  // Packs modules that read the same inputs and whose outputs are concatenated.
  LowRankLinear linear(std::initializer_list<std::string> modules) const {
    LowRankLinear packed;
    std::vector<float> all_a;
    int outputs = 0, ranks = 0, inputs = 0;
    for (const std::string& module : modules) {
      const LinearShape shape = linears_.at(module);
      inputs = static_cast<int>(shape.inputs);
      if (const auto found = adapter_.modules.find(module); found != adapter_.modules.end()) {
        const std::vector<float> a = values_of({found->second.a});
        all_a.insert(all_a.end(), a.begin(), a.end());
        packed.parts.push_back({scaled(found->second.b, static_cast<int>(shape.outputs)), ranks, outputs});
        ranks += adapter_.config.rank;
      }
      outputs += static_cast<int>(shape.outputs);
    }
    if (ranks > 0) packed.a = kernels::pack_linear(all_a.data(), nullptr, ranks, inputs);
    return packed;
  }

  BlockAdapter layer(const std::string& name) const {
    const std::string attention = name + ".self_attn.";
    return {linear({attention + "q_proj", attention + "k_proj", attention + "v_proj"}), linear({attention + "o_proj"}),
            linear({name + ".mlp.gate_proj", name + ".mlp.up_proj"}), linear({name + ".mlp.down_proj"})};
  }
  BlockAdapter vision_block(const std::string& name, const Tower& tower) const {
    const std::string mlp = name + ".mlp.";
    return {linear({name + ".attn.qkv"}), linear({name + ".attn.proj"}),
            tower.mlp == Mlp::swiglu ? linear({mlp + "gate_proj", mlp + "up_proj"})
                                     : linear({mlp + std::string(tower.mlp_in)}),
            linear({mlp + std::string(tower.mlp_out)})};
  }
  MergerAdapter merger(const std::string& name, const Tower& tower) const {
    return {linear({fmt::format("{}.{}", name, tower.merger_in)}),
            linear({fmt::format("{}.{}", name, tower.merger_out)})};
  }

 private:
  kernels::PackedLinear scaled(const TensorView& b, int outputs) const {
    std::vector<float> values = values_of({b});
    for (float& value : values) value = static_cast<float>(adapter_.config.scale() * static_cast<double>(value));
    return kernels::pack_linear(values.data(), nullptr, outputs, adapter_.config.rank);
  }
  const PeftAdapter& adapter_;
  const LinearShapes& linears_;
};

void add_bytes(std::string& bytes, std::string_view more) { bytes += fmt::format("{} {}", more.size(), more); }

void add_bytes(std::string& bytes, const TensorView& view) {
  const Hash128 hash = hash_bytes(view.bytes);
  add_bytes(bytes, view.dtype + hash.hex());
}

VisionAdapter pack_vision(const Packing& packing, const VisionConfig& config) {
  VisionAdapter vision;
  for (int i = 0; i < config.depth; ++i)
    vision.blocks.push_back(packing.vision_block(fmt::format("visual.blocks.{}", i), *config.tower));
  vision.merger = packing.merger("visual.merger", *config.tower);
  for (std::size_t i = 0; i < config.deepstack_blocks.size(); ++i)
    vision.deepstack.push_back(packing.merger(fmt::format("visual.deepstack_merger_list.{}", i), *config.tower));
  return vision;
}

}  // namespace

Hash128 adapter_id(const PeftAdapter& adapter) {
  std::string bytes = fmt::format("{} {} ", adapter.config.rank, adapter.config.scale());
  for (const auto& [module, matrices] : adapter.modules) {
    add_bytes(bytes, module);
    add_bytes(bytes, matrices.a);
    add_bytes(bytes, matrices.b);
  }
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

void add_low_rank(const LowRankLinear& added, const float* x, std::int64_t rows, float* y, std::int64_t y_stride,
                  kernels::AlignedFloats& scratch, const kernels::ParallelFor& parallel) {
  if (added.parts.empty()) return;
  const int ranks = added.a.outputs;
  scratch.require(static_cast<std::size_t>(rows * ranks));
  float* const low = scratch.data();
  kernels::linear(added.a, x, rows, added.a.inputs, low, ranks, kernels::Store::set, parallel);
  for (const LowRankLinear::Part& part : added.parts)
    kernels::linear(part.b, low + part.first_rank, rows, ranks, y + part.first_output, y_stride, kernels::Store::add,
                    parallel);
}

std::shared_ptr<const EngineAdapter> load_engine_adapter(const std::filesystem::path& folder,
                                                         const ModelConfig& config) {
  const LinearShapes linears = adaptable_linears(config);
  const PeftAdapter adapter = open_peft_adapter(folder, linears);
  const Packing packing(adapter, linears);
  auto packed = std::make_shared<EngineAdapter>();
  packed->id = adapter_id(adapter);
  for (int i = 0; i < config.text.num_hidden_layers; ++i)
    packed->layers.push_back(packing.layer(fmt::format("model.layers.{}", i)));
  packed->adapts_vision = std::any_of(adapter.modules.begin(), adapter.modules.end(),
                                      [](const auto& module) { return module.first.starts_with("visual."); });
  if (packed->adapts_vision) packed->vision = pack_vision(packing, *config.vision);
  return packed;
}

}  // namespace agon::agents
