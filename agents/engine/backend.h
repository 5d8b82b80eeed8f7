// agents/engine/backend.h - the interface through which the engine runs a model: forward passes of the decoder and the
// vision tower over the rows of a batch, and the memory for keys and values. agents/engine/cpu_backend.h implements it
// with agon's kernels, agents/learn/backend/torch_backend.h with LibTorch. Scheduler, caches, sampler and scoring are
// the same for both.
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

// One token of a forward pass.
struct DecoderRow {
  std::int32_t token = 0;  // REQUIRES: 0 <= token < vocab_size
  // For an image token, else null: [vectors_a_token(), hidden_size]. The first vector replaces the token's embedding,
  // the others are added to the states after each of the first layers.
  const float* embedding = nullptr;
  std::array<std::int32_t, 3> position{};  // M-RoPE (t, h, w)
  const KeyValues* prefix = nullptr;       // the prompt that this token's sequence continues, or null
  std::int64_t prefix_tokens = 0;
  const KeyValues* own = nullptr;  // its own sequence, with room for `index`
  std::int64_t index = 0;          // the token's place in `own`; it attends to places 0 .. index
  const EngineAdapter* adapter = nullptr;
};

// How the engine splits its work: upper limits for one pass or step.
struct BackendTraits {
  bool is_threaded = true;               // the engine's threads call it in parallel, with different sequences
  std::int64_t rows_a_pass = 128;        // tokens of one prompt or continuation per pass
  std::int64_t sequences_a_pass = 64;    // generating sequences per pass; more with one thread or few sequences
  std::int64_t logits_a_pass = 1 << 23;  // logits per pass (one row is always allowed)
  std::int64_t tokens_a_step = 1024;     // prompt tokens per step and thread
};

// A row's result depends on its own sequence alone: bit for bit with agon's kernels, and with LibTorch up to the
// rounding of its matrix products, which varies with the number of rows.
class ModelBackend {
 public:
  virtual ~ModelBackend() = default;
  virtual BackendTraits traits() const = 0;
  virtual PagePool& pages() = 0;
  virtual std::size_t weight_bytes() const = 0;
  virtual std::size_t step_bytes() const = 0;  // the part of the weights that a decode step reads
  // Loads a LoRA adapter of this model from a folder in PEFT's format. Any thread may call it. Throws Error for an
  // adapter of another model, and for one that this backend cannot apply.
  virtual std::shared_ptr<const EngineAdapter> load_adapter(const std::filesystem::path& folder) const = 0;

  // Waits for background work that makes later passes faster, such as packing weights. Any thread may call it, also
  // during passes, but only one at a time.
  virtual void settle() {}
  // Prepares for positions below `positions`. Not during another call.
  virtual void prepare(std::int32_t positions) = 0;
  // [image tokens, vectors_a_token(), out_hidden_size], as encode_image of agents/engine/vision_encoder.h returns them.
  // adapter: may be null.
  virtual std::vector<float> encode_image(const PatchedImage& image, const EngineAdapter* adapter,
                                          const kernels::ParallelFor& parallel) = 0;
  // If the first `tokens` of `from` end within a page, copies the tokens of that page into the same page of `to`.
  virtual void copy_rest(const KeyValues& from, std::int64_t tokens, KeyValues& to) = 0;
  // hidden [rows, hidden_size]: the states after the last norm. Writes each row's keys and values to its place. Fastest
  // if rows with the same adapter, and rows with the same prefix, are adjacent. REQUIRES: the rows of a sequence are in
  // order, and all its earlier rows are in this call or an earlier one.
  virtual void forward(std::span<const DecoderRow> rows, float* hidden, const kernels::ParallelFor& parallel) = 0;
  // hidden [rows, hidden_size], as written by forward -> out [rows, vocab_size].
  virtual void logits(const float* hidden, std::int64_t rows, float* out, const kernels::ParallelFor& parallel) = 0;
};

}  // namespace agon::agents
