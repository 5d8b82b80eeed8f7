// agents/engine/compute.h - does the engine's computations for a batch in passes of a backend: picture embeddings,
// prompts, the next token of every sequence, scores and states. agents/engine/scheduler.h decides which sequences run.
// Used by one thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "agents/engine/backend.h"
#include "agents/engine/compute_pool.h"
#include "agents/engine/prompt_cache.h"
#include "agents/engine/sampler.h"
#include "agents/engine/sequence.h"

namespace agon::agents {

// An exception in the work on one prompt, picture or sequence becomes the `failure` of the sequences that need it; the
// others continue.
class EngineCompute {
 public:
  // Keeps references to backend and tokenizer.
  EngineCompute(ModelBackend& backend, const ModelConfig& config, const Tokenizer& tokenizer,
                const EngineOptions& options);

  // Reads more of the unread prompts, in order and at most `most_tokens` in total. A prompt that shares the start of an
  // unread one is read after that one. Returns the number of tokens read. A prompt that fails has `failure` or
  // `start_failed` set. May reorder `prompts`.
  std::int64_t read_prompts(std::span<std::shared_ptr<CachedPrompt>> prompts, std::int64_t most_tokens) noexcept;
  // For each sequence whose prompt is read: generates the next token, or reads its whole continuation.
  void decode(std::span<const std::unique_ptr<EngineSequence>> sequences) noexcept;
  void forget() noexcept;  // drops pictures, which were computed with the old weights
  std::int64_t most_read() const { return traits_.tokens_a_step * threads_.threads(); }  // prompt tokens per step

 private:
  struct Piece {  // the part of a prompt to read next
    std::shared_ptr<CachedPrompt> prompt;
    std::int64_t tokens = 0;
  };
  void embed_images(std::span<const Piece> pieces);
  std::int64_t read_in_order(std::span<std::shared_ptr<CachedPrompt>> prompts, std::int64_t most_tokens);
  std::int64_t read_together(std::span<const std::shared_ptr<CachedPrompt>> prompts, std::int64_t most_tokens);
  void read_piece(CachedPrompt& prompt, std::int64_t tokens, const kernels::ParallelFor& parallel) const;
  std::vector<DecoderRow> prompt_rows(const CachedPrompt& prompt, std::int64_t tokens) const;
  void decode_all(std::span<const std::unique_ptr<EngineSequence>> sequences);
  void decode_some(std::span<EngineSequence*> sequences, const kernels::ParallelFor& parallel) const noexcept;
  void decode_together(std::span<EngineSequence*> sequences, const kernels::ParallelFor& parallel) const;
  SampledToken drawn(EngineSequence& sequence, std::span<const float> logits, SamplerScratch& scratch) const;
  void sample(EngineSequence& sequence, std::span<const float> logits, SamplerScratch& scratch) const;
  DecoderRow row_of(const EngineSequence& sequence, std::span<const std::int32_t> tokens) const;
  void advance(EngineSequence& sequence, const SampledToken& token) const;
  void read_on(EngineSequence& sequence, const kernels::ParallelFor& parallel) const;
  // Reads a continuation except its last `omitted` tokens; calls use(states of some rows [rows, hidden_size], rows).
  void each_states(const EngineSequence& sequence, std::size_t omitted, const kernels::ParallelFor& parallel,
                   const std::function<void(const float* states, std::int64_t rows)>& use) const;
  void each_logits(const float* hidden, std::int64_t rows, const kernels::ParallelFor& parallel,
                   const std::function<void(std::int64_t row, std::span<const float> logits)>& use) const;
  // Runs body(i, parallel) for i < count: in parallel if there is at least one item per thread, else one after another
  // with inner loops spread over the threads.
  void spread(std::int64_t count,
              const std::function<void(std::int64_t item, const kernels::ParallelFor& parallel)>& body);

  const ModelConfig config_;
  const Tokenizer& tokenizer_;
  ModelBackend& backend_;
  const BackendTraits traits_;
  const std::vector<std::int32_t> allowed_;
  ComputePool threads_;
  ImageCache images_;
};

}  // namespace agon::agents
