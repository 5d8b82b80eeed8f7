// agents/engine/engine.h - the inference engine of the local policy, with continuous batching: between tokens new
// sequences join the batch and finished ones leave. One thread owns the model (a backend) and the caches; callers queue
// and wait. Equal prompts, and equal starts of prompts, are computed once if they use the same adapter. A result
// depends only on its own request and the weights, not on threads or other requests (with LibTorch: up to rounding, see
// ModelBackend).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/engine/adapter.h"
#include "agents/engine/backend.h"
#include "agents/engine/memory_plan.h"
#include "agents/engine/weights.h"
#include "agents/hub/prompt.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/policy.h"
#include "kernels/attention/attention.h"

namespace agon::agents {

struct EngineOptions {
  int max_batch = 512;  // sequences decoded together
  int threads = 0;      // of agon's kernels; 0: one per core
  // For an engine that is constructed from weights: see CpuBackend.
  std::int64_t cache_bytes = 0;
  kernels::KeyType keys = kernels::KeyType::f32;
  // Memory limit of the picture cache and of the prompt cache, each. Prompts in use count, but are not dropped.
  std::int64_t idle_bytes = 256 << 20;
  double most_stall = 0.03;  // seconds per step for which generating sequences wait while prompts are read
  bool share_starts = true;  // false: prompts share no starts, to measure what sharing saves
};

struct GenerationRequest {
  EncodedPrompt prompt;
  int n = 1;
  Sampling sampling;
  std::shared_ptr<const EngineAdapter> adapter = nullptr;  // an adapter of the engine's model; null: the model itself
};
struct ScoringRequest {
  EncodedPrompt prompt;
  std::vector<std::int32_t> token_ids;
  double temperature = 1.0;  // of the log-probabilities
  int alternatives = 0;      // returned per token, at most
  std::shared_ptr<const EngineAdapter> adapter = nullptr;
};

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// Follows the work on one call. Must live until the call ends.
struct GenerationWatch {
  // Any thread may set it. The call then ends with an Error after the current step of the engine.
  const std::atomic<bool>& cancelled;
  // Called on the engine's thread after each token of each sample, with the sample's place among the results and its
  // text so far. All samples wait meanwhile, so it must be quick. An exception that it throws ends the call.
  std::function<void(std::size_t place, const Completion& so_far)> on_token = nullptr;
  Deadline deadline = kNoDeadline;  // once it has passed, the call ends likewise, running or waiting
};

// Current number of sequences.
struct EngineLoad {
  int running = 0, waiting = 0;
};

struct EngineCall;   // one call of generate, score, states or change_weights
struct EngineState;  // owned by the engine's thread

class Engine {
 public:
  Engine(std::unique_ptr<ModelBackend> backend, const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer,
         const EngineOptions& options);
  // An engine on agon's kernels.
  Engine(EngineWeights weights, const ModelConfig& config, std::shared_ptr<const Tokenizer> tokenizer,
         const EngineOptions& options);
  ~Engine();  // unfinished calls end with an Error
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Thread-safe; each call waits for its whole result. Throws Error for a request that cannot run, before any request
  // of the call runs, and for a failure while the engine runs it. Other calls are not affected.
  std::vector<Completion> generate(std::vector<GenerationRequest> requests, GenerationWatch* watch = nullptr);
  std::vector<TokenScores> score(std::vector<ScoringRequest> requests, GenerationWatch* watch = nullptr);
  // The states after the last norm at every token of each continuation, [tokens, hidden_size].
  std::vector<std::vector<float>> states(std::vector<ScoringRequest> requests);
  // Calls change(backend) on the engine's thread, after dropping everything computed with the old weights. Throws Error
  // while requests are running or waiting, and if `change` throws.
  void change_weights(std::function<void(ModelBackend&)> change);
  // Replaces the weights by others of the same shapes. REQUIRES: an engine on agon's kernels.
  void set_weights(EngineWeights weights);
  // Like ModelBackend::load_adapter.
  std::shared_ptr<const EngineAdapter> load_adapter(const std::filesystem::path& folder) const;
  int max_context() const;
  ModelMemory memory() const;
  // Throws the Error with which generate would refuse the request.
  void require(const GenerationRequest& request) const;
  EngineLoad load() const { return {running_, waiting_}; }  // thread-safe

 private:
  void submit_and_wait(std::shared_ptr<EngineCall> call);
  std::shared_ptr<EngineCall> call_of(std::vector<ScoringRequest> requests) const;
  void work();
  void take_over(const std::shared_ptr<EngineCall>& call) noexcept;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::shared_ptr<EngineCall>> arrivals_;
  bool closing_ = false;
  std::atomic<int> running_ = 0, waiting_ = 0;
  std::unique_ptr<EngineState> state_;
  std::thread thread_;
};

}  // namespace agon::agents
