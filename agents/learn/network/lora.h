// agents/learn/network/lora.h - LoRA (Hu et al. 2021): y = W x + b + (alpha / r) B A x on chosen linears of a frozen
// model, in PEFT's file format. Works with padded and packed batches.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/learn/network/lora_file.h"

namespace agon::agents {

// The default targets: the decoder's projections.
inline constexpr const char* kLoraTargets = R"(model\.layers\.\d+\.(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj))";

struct LoraOptions {
  int rank = 16;
  double alpha = 16;
  std::string targets = kLoraTargets;  // regular expression over whole module names ("visual.blocks.0.attn.qkv")
};

// An adapter attached to a model. While it exists, the model's own weights get no gradient, and the adapter is part of
// every pass. Like the model, it is used by one thread at a time.
class LoraAdapter {
 public:
  // A new adapter, initialised as in PEFT: A uniform within 1 / sqrt(inputs), B zero, so that it changes nothing at
  // first. Throws Error for targets that are not a regular expression or match no linear, a rank below 1 or above a
  // side of a matched weight, an alpha that is not positive, and a model that has an adapter already.
  LoraAdapter(std::shared_ptr<TransformerNetwork> model, const LoraOptions& options, std::uint64_t seed);
  // Loads adapter_config.json and adapter_model.safetensors, as written by save() or by PEFT for transformers 5 or 4.
  // Throws Error for files that are damaged or of another model, listing what does not fit, and for unsupported PEFT
  // settings (DoRA, ranks per module, saved modules, ...).
  LoraAdapter(std::shared_ptr<TransformerNetwork> model, const std::filesystem::path& folder);
  ~LoraAdapter();
  LoraAdapter(const LoraAdapter&) = delete;
  LoraAdapter& operator=(const LoraAdapter&) = delete;

  // The trained tensors: A [rank, inputs] and B [outputs, rank] of each module, in the order of the names.
  std::vector<at::Tensor> parameters() const;
  std::vector<std::string> modules() const;
  // Writes both files, the config last. base_model: the base in the config, a folder or a hub name.
  void save(const std::filesystem::path& folder, const std::string& base_model) const;
  // Loads the values of an adapter with the same modules and rank into these parameters.
  void restore(const std::filesystem::path& folder);

  // While an Off exists, the adapter is switched off: the model is then the reference.
  class Off {
   public:
    explicit Off(LoraAdapter& adapter);
    ~Off();
    Off(const Off&) = delete;
    Off& operator=(const Off&) = delete;

   private:
    LoraAdapter& adapter_;
  };
  // While a Merged exists, the adapter is merged into the model's weights, for the engine (engine_weights_of) and
  // save_weights. Its destructor restores the weights bit for bit. No backward pass may span its construction or
  // destruction.
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

  std::shared_ptr<TransformerNetwork> model_;
  LoraFile lora_;
  int switched_off_ = 0;            // number of Off objects
  std::vector<at::Tensor> frozen_;  // parameters that took gradients before
};

}  // namespace agon::agents
