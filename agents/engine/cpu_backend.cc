#include "agents/engine/cpu_backend.h"

#include <utility>

#include "agents/engine/memory_plan.h"
#include "agents/engine/vision_encoder.h"

namespace agon::agents {
namespace {

// One per thread, so that a pass allocates nothing.
DecoderScratch& decoder_scratch() {
  thread_local DecoderScratch scratch;
  return scratch;
}

}  // namespace

CpuBackend::CpuBackend(EngineWeights weights, const ModelConfig& config, std::int64_t cache_bytes,
                       kernels::KeyType keys)
    : config_(config),
      weights_(std::move(weights)),
      pages_(config.text, cache_bytes > 0 ? cache_bytes : machine_memory() / 4, keys),
      decoder_(weights_, config_.text, pages_),
      packer_(std::make_unique<WeightPacker>(weights_)) {}

void CpuBackend::set_weights(EngineWeights weights) {
  packer_.reset();
  weights_ = std::move(weights);
  packer_ = std::make_unique<WeightPacker>(weights_);
}

std::shared_ptr<const EngineAdapter> CpuBackend::load_adapter(const std::filesystem::path& folder) const {
  return load_engine_adapter(folder, config_);
}

std::vector<float> CpuBackend::encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                            const kernels::ParallelFor& parallel) {
  const VisionAdapter* const vision = adapter && adapter->adapts_vision ? &adapter->vision : nullptr;
  return agents::encode_image(weights_.vision, *config_.vision, image, parallel, vision);
}

void CpuBackend::forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor& parallel) {
  decoder_.forward(rows, hidden, decoder_scratch(), parallel);
}

void CpuBackend::logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) {
  decoder_.logits(hidden, rows, out, parallel);
}

}  // namespace agon::agents
