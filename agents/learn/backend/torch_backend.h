// agents/learn/backend/torch_backend.h - the engine's backend that runs on LibTorch, on the CPU or a GPU: the network
// of agents/learn/network/transformer_network.h with keys and values in pages. Weights are fp32 or bfloat16.
// agents/engine/open_backend.h opens one.
#pragma once

#include <memory>
#include <string>

#include "agents/engine/backend.h"
#include "agents/learn/backend/paged_attention.h"
#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

class TorchBackend : public ModelBackend {
 public:
  // Computes with the model's own tensors, in their type and on their device, and with its adapter, if it has one, so
  // that engine and trainer can share one model. Between calls of the engine the trainer may change the values in
  // place; it must then call Engine::change_weights. limit: bytes for weights, keys and values together; 0: keys and
  // values may take a quarter of the machine's memory, or half of a GPU's free memory.
  explicit TorchBackend(std::shared_ptr<TransformerNetwork> model, std::int64_t limit = 0);
  // Switches to another model of the same config, type and device, without copying its tensors. Throws Error for a
  // model of another type or device. Not during another call.
  void set_weights(std::shared_ptr<TransformerNetwork> model);

  BackendTraits traits() const override;
  PagePool& pages() override { return pages_; }
  std::size_t weight_bytes() const override;
  std::size_t step_bytes() const override;
  std::shared_ptr<const EngineAdapter> load_adapter(const std::filesystem::path& folder) const override;
  void prepare(std::int32_t) override {}
  std::vector<float> encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                  const kernels::ParallelFor& parallel) override;
  void copy_rest(const KeyValues& from, std::int64_t tokens, KeyValues& to) override;
  void forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor& parallel) override;
  void logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) override;

 private:
  at::TensorOptions options() const { return model_->lm_head().options(); }
  void forward_adapted(std::span<const DecoderRow> rows, float* hidden);  // the rows have the same adapter, or none

  std::shared_ptr<TransformerNetwork> model_;
  PageMemory memory_;
  PagePool pages_;
};

}  // namespace agon::agents
