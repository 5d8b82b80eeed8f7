// agents/learn/network/lora.h - LoRA (Hu et al. 2021): y = W x + b + (alpha / r) B A x on chosen linears of a frozen
// model, in PEFT's files. Works in every path of the model, padded or packed.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/learn/network/lora_file.h"

namespace agon::agents {

// The decoder's projections.
inline constexpr const char* kLoraTargets = R"(model\.layers\.\d+\.(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj))";

struct LoraOptions {
  int rank = 16;
  double alpha = 16;
  std::string targets = kLoraTargets;  // regular expression over whole module names ("visual.blocks.0.attn.qkv")
};

// One adapter of a model. While it lives the model's own weights take no gradient, and the adapter is added to every
// pass. Like the model, for one thread at a time.
class LoraAdapter {
 public:
  // Drawn as PEFT does: A uniform within 1 / sqrt(inputs), B zero, so that the model is what it was. Throws Error for
  // targets that are no regular expression or match no linear, a rank below 1 or above a side of a matched weight, an
  // alpha that is not positive, and a model that has an adapter already.
  LoraAdapter(std::shared_ptr<Qwen25VL> model, const LoraOptions& options, std::uint64_t seed);
  // From adapter_config.json and adapter_model.safetensors as PEFT writes them for transformers 5 or 4, or as save()
  // does. Throws Error for files that are damaged or of another model, listing what does not fit, and for settings of
  // PEFT that are more than this (DoRA, ranks by module, saved modules, ...).
  LoraAdapter(std::shared_ptr<Qwen25VL> model, const std::filesystem::path& folder);
  ~LoraAdapter();
  LoraAdapter(const LoraAdapter&) = delete;
  LoraAdapter& operator=(const LoraAdapter&) = delete;

  // What is trained: A [rank, inputs] and B [outputs, rank] of each module in the order of the names.
  std::vector<at::Tensor> parameters() const;
  std::vector<std::string> modules() const;
  // Both files, the config last. base_model: what the config names as its base, a folder or a hub's name.
  void save(const std::filesystem::path& folder, const std::string& base_model) const;
  // The values of an adapter that was saved from one of the same modules and rank, into these parameters.
  void restore(const std::filesystem::path& folder);

  // While it lives the model is what it is without the adapter: the reference.
  class Off {
   public:
    explicit Off(LoraAdapter& adapter);
    ~Off();
    Off(const Off&) = delete;
    Off& operator=(const Off&) = delete;

   private:
    LoraAdapter& adapter_;
  };
  // While it lives the adapter is part of the model's weights, for the engine (engine_weights_of) and for
  // save_weights; afterwards they are what they were, bit by bit. No backward pass may reach across its ends.
  class Merged {
   public:
    explicit Merged(LoraAdapter& adapter);
    ~Merged();
    Merged(const Merged&) = delete;
    Merged& operator=(const Merged&) = delete;

   private:
    Off off_;
    std::map<std::string, at::Tensor> base_;
    LoraAdapter& adapter_;
  };

 private:
  void attach();
  void apply(bool on);

  std::shared_ptr<Qwen25VL> model_;
  LoraFile lora_;
  int switched_off_ = 0;            // Offs alive
  std::vector<at::Tensor> frozen_;  // parameters that took gradients before
};

}  // namespace agon::agents
