// agents/engine/cpu_backend.h - the backend that runs a model on the CPU with agon's kernels and any type of weights.
// The bits of a result depend only on the sequence's own tokens.
#pragma once

#include <memory>
#include <utility>

#include "agents/engine/backend.h"
#include "agents/engine/decoder.h"
#include "agents/engine/weight_packer.h"
#include "agents/engine/weights.h"
#include "agents/hub/model_config.h"

namespace agon::agents {

class CpuBackend : public ModelBackend {
 public:
  // cache_bytes: memory limit for keys and values, stored in the type `keys`; 0: a quarter of the machine's memory.
  CpuBackend(EngineWeights weights, const ModelConfig& config, std::int64_t cache_bytes = 0,
             kernels::KeyType keys = kernels::KeyType::f32);
  // Replaces the weights by others of the same shapes. Not during another call.
  void set_weights(EngineWeights weights);

  BackendTraits traits() const override { return {}; }
  PagePool& pages() override { return pages_; }
  std::size_t weight_bytes() const override { return bytes_of(weights_); }
  std::size_t step_bytes() const override { return agents::step_bytes(weights_); }
  std::shared_ptr<const EngineAdapter> load_adapter(const std::filesystem::path& folder) const override;
  void settle() override { packer_->wait(); }
  void prepare(std::int32_t positions) override { decoder_.prepare(positions); }
  std::vector<float> encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                  const kernels::ParallelFor& parallel) override;
  void copy_rest(const KeyValues& from, std::int64_t tokens, KeyValues& to) override { to.copy_rest(from, tokens); }
  void forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor& parallel) override;
  void logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) override;

 private:
  const ModelConfig config_;
  EngineWeights weights_;
  PagePool pages_;
  Decoder decoder_;
  std::unique_ptr<WeightPacker> packer_;
};

}  // namespace agon::agents
