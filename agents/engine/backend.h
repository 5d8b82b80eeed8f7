// agents/engine/backend.h - what computes a model below the engine: the passes of its decoder and its vision tower over
// the rows of a batch, and the memory of their keys and values. agents/engine/cpu_backend.h has agon's kernels,
// agents/learn/backend/torch_backend.h the devices of LibTorch. Scheduler, caches, sampler and scoring above are the
// same for both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "agents/engine/adapter.h"
#include "agents/engine/key_value_cache.h"
#include "agents/hub/pictures/image_processor.h"
#include "kernels/parallel.h"

namespace agon::agents {

// One token of a pass. Its keys and values are named by runs of page numbers.
struct DecoderRow {
  std::int32_t token = 0;  // REQUIRES: 0 <= token < vocab_size
  // Of a picture's token, [vectors_a_token(), hidden_size]: in place of the token's embedding, and what is added to the
  // states after each of the first layers.
  const float* embedding = nullptr;
  std::array<std::int32_t, 3> position{};  // M-RoPE (t, h, w)
  const KeyValues* prefix = nullptr;       // a prompt that this token's sequence continues, or null
  std::int64_t prefix_tokens = 0;
  const KeyValues* own = nullptr;  // its own sequence, with room for `index`
  std::int64_t index = 0;          // place in `own`: the token sees 0 .. index there
  const EngineAdapter* adapter = nullptr;
};

// How the engine cuts its work into passes.
struct BackendTraits {
  bool is_threaded = true;         // the engine's threads share the work, each with other sequences; else one calls it
  std::int64_t rows_a_pass = 128;  // of a prompt or continuation, at most
  std::int64_t sequences_a_pass = 64;    // that generate, at most
  std::int64_t logits_a_pass = 1 << 20;  // at most, but those of one row
  std::int64_t tokens_a_step = 1024;     // of prompts in one step, for each thread
};

// A row's result depends on its own sequence alone: in agon's kernels to the last bit, in LibTorch up to the rounding
// of its products, which differs with the number of rows.
class ModelBackend {
 public:
  virtual ~ModelBackend() = default;
  virtual BackendTraits traits() const = 0;
  virtual PagePool& pages() = 0;
  virtual std::size_t weight_bytes() const = 0;
  virtual std::size_t step_bytes() const = 0;  // of those, what one more token of every sequence reads
  // A LoRA adapter of this model, from a folder of PEFT's form. Any thread may call it. Throws Error for a folder of
  // another model, and for one that this backend cannot apply.
  virtual std::shared_ptr<const EngineAdapter> load_adapter(const std::filesystem::path& folder) const = 0;

  // Waits for background work that makes later passes faster, such as the packing of weights. Any thread may call it,
  // one at a time, also during passes.
  virtual void settle() {}
  // Prepares for positions below `positions`. Not during another call.
  virtual void prepare(std::int32_t positions) = 0;
  // [image tokens, vectors_a_token(), out_hidden_size], as encode_image of agents/engine/vision_encoder.h returns them.
  // adapter: or null.
  virtual std::vector<float> encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                          const kernels::ParallelFor& parallel) = 0;
  // Copies those of the first `tokens` of one run that do not fill a page into a page of the other.
  virtual void copy_rest(const KeyValues& from, std::int64_t tokens, KeyValues& to) = 0;
  // hidden [rows, hidden_size]: the states after the last norm. Writes each row's keys and values to its place. Rows of
  // one sequence are in order, and all earlier rows of it are in this call or an earlier one. It is fastest where rows
  // of one adapter, and of one prefix, are neighbours.
  virtual void forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor& parallel) = 0;
  // hidden as forward wrote it -> out [rows, vocab_size].
  virtual void logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) = 0;
};

}  // namespace agon::agents
