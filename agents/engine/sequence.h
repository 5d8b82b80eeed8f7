// agents/engine/sequence.h - one sequence in the engine: a sample that it generates, or a continuation that it scores.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "agents/engine/call.h"
#include "agents/engine/completion_text.h"
#include "agents/engine/key_value_cache.h"
#include "agents/engine/prompt_cache.h"
#include "core/rng.h"

namespace agon::agents {

// Used by the engine's thread only.
struct EngineSequence {
  void finish(FinishReason reason);  // completes the sequence

  std::shared_ptr<EngineCall> call;
  const Sampling* sampling = nullptr;  // null: a continuation to be read
  const ScoringRequest* continuation = nullptr;
  const EncodedPrompt* request = nullptr;
  std::shared_ptr<const EngineAdapter> adapter;
  Completion* completion = nullptr;
  TokenScores* scores = nullptr;
  std::vector<float>* states = nullptr;
  std::int64_t most_tokens = 0;  // capacity of its own keys and values
  PromptKey key;                 // of the prompt; cleared once the prompt is found or created

  // Set once the sequence runs:
  std::shared_ptr<CachedPrompt> prompt;
  std::unique_ptr<KeyValues> own;
  Rng rng;
  CompletionText text;
  bool finished = false;
  std::exception_ptr failure;  // exception in the work on it; ends its call
};

}  // namespace agon::agents
