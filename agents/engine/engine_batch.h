// agents/engine/engine_batch.h - what the engine's thread works on: sequences that wait, and those under way as one
// batch. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "agents/engine/completion_text.h"
#include "agents/engine/compute_pool.h"
#include "agents/engine/decoder.h"
#include "agents/engine/engine.h"
#include "agents/engine/prompt_cache.h"
#include "agents/engine/sampler.h"
#include "core/rng.h"

namespace agon::agents {

// One call of Engine::generate, score or states. Its thread waits for `done`; until then the engine's thread owns it.
// It ends once: with its results, or with an Error of its own.
struct EngineCall {
  void succeed() noexcept;
  void fail(const std::exception_ptr& why) noexcept;  // as an Error, whatever was thrown
  std::vector<GenerationRequest> generations;
  std::vector<ScoringRequest> scorings;
  std::optional<EngineWeights> weights;  // to be used from now on; then there is nothing else in the call
  std::vector<Completion> completions;
  std::vector<TokenScores> scores;         // of the scorings: either these
  std::vector<std::vector<float>> states;  // or these
  std::size_t remaining = 0;               // sequences
  bool ended = false;
  std::promise<void> done;
};

// One sample of a request, or one continuation to be read.
struct EngineSequence {
  std::shared_ptr<EngineCall> call;
  const Sampling* sampling = nullptr;  // null: a continuation to be read
  const ScoringRequest* continuation = nullptr;
  const EncodedPrompt* request = nullptr;
  Completion* completion = nullptr;
  TokenScores* scores = nullptr;
  std::vector<float>* states = nullptr;
  std::int64_t most_tokens = 0;  // that its own keys and values can hold
  PromptKey key;                 // of the request, once somebody has looked for its prompt

  // Once under way:
  std::shared_ptr<CachedPrompt> prompt;
  std::unique_ptr<KeyValues> own;
  Rng rng;
  CompletionText text;
  bool finished = false;
  std::exception_ptr failure;  // what was thrown by the work on it; ends its call
};

class EngineBatch {
 public:
  EngineBatch(const EngineWeights& weights, const ModelConfig& config, const Tokenizer& tokenizer,
              const EngineOptions& options);
  const PagePool& pages() const { return pages_; }

  void add(const std::shared_ptr<EngineCall>& call);  // adds all of it, or throws and adds nothing
  bool busy() const { return !waiting_.empty() || !running_.empty(); }
  // Lets waiting sequences in, reads their prompts, and takes every running one a token further. Calls whose last
  // sequence ended are done. What is thrown by the work on one sequence, prompt or picture ends the calls that need it,
  // and no others.
  void step();
  void forget() noexcept;                             // prompts and pictures, computed with weights that have changed
  void fail(const std::exception_ptr& why) noexcept;  // every call in it; nothing is left

 private:
  using Sequences = std::vector<std::unique_ptr<EngineSequence>>;
  using Prompts = std::vector<std::shared_ptr<CachedPrompt>>;
  void enqueue(const std::shared_ptr<EngineCall>& call);
  void admit();
  bool start(EngineSequence& sequence);
  bool promise(std::int64_t pages);  // at the cost of prompts that nobody uses
  void make_prompt(EngineSequence& sequence, const SharedStart& shared);
  void prepare_prompts() noexcept;
  void drop_failed_prompts() noexcept;
  void embed_images();
  void read_prompts();
  void read_prompts(std::span<std::shared_ptr<CachedPrompt>> prompts);
  void read_prompt(CachedPrompt& prompt, const kernels::ParallelFor& parallel) const;
  std::vector<DecoderRow> prompt_rows(const CachedPrompt& prompt) const;
  void read_on(EngineSequence& sequence, const kernels::ParallelFor& parallel) const;
  // Reads a continuation but for its last `omitted` tokens: use(states of some rows [rows, hidden_size], rows).
  void each_states(const EngineSequence& sequence, std::size_t omitted, const kernels::ParallelFor& parallel,
                   const std::function<void(const float* states, std::int64_t rows)>& use) const;
  void decode() noexcept;
  void decode_all();
  void decode_some(std::span<EngineSequence*> sequences, const kernels::ParallelFor& parallel) const noexcept;
  void decode_together(std::span<EngineSequence*> sequences, const kernels::ParallelFor& parallel) const;
  void sample(EngineSequence& sequence, std::span<const float> logits, SamplerScratch& scratch) const;
  DecoderRow row_of(const EngineSequence& sequence, std::span<const std::int32_t> tokens) const;
  void each_logits(const float* hidden, std::int64_t rows, const kernels::ParallelFor& parallel,
                   const std::function<void(std::int64_t row, std::span<const float> logits)>& use) const;
  void advance(EngineSequence& sequence, const SampledToken& token) const;
  void finish(EngineSequence& sequence, FinishReason reason) const;
  void deliver() noexcept;
  void drop_ended() noexcept;  // and finished ones
  // Runs body(i, parallel) for i < count: side by side if there are enough of them, else one after another with their
  // inner loops spread over the threads.
  void spread(std::int64_t count,
              const std::function<void(std::int64_t item, const kernels::ParallelFor& parallel)>& body);

  const ModelConfig config_;
  const Tokenizer& tokenizer_;
  const EngineWeights& weights_;
  const std::size_t max_batch_;
  const bool share_starts_;
  const std::vector<std::int32_t> allowed_;
  PagePool pages_;
  Decoder decoder_;
  ComputePool threads_;
  PromptCache prompts_;
  ImageCache images_;
  std::deque<std::unique_ptr<EngineSequence>> waiting_;
  Sequences running_;
  Prompts unread_;  // of running sequences
};

}  // namespace agon::agents
