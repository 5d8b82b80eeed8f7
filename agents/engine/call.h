// agents/engine/call.h - one call of the engine, as the calling thread hands it to the engine's thread.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <vector>

#include "agents/engine/engine.h"

namespace agon::agents {

// One call of Engine::generate, score, states or change_weights. The calling thread waits for `done`; until then the
// engine's thread owns the call. It ends exactly once, with its results or with an Error.
struct EngineCall {
  void succeed() noexcept;
  void fail(const std::exception_ptr& why) noexcept;  // ends the call with an Error, whatever type was thrown
  std::vector<GenerationRequest> generations;
  std::vector<ScoringRequest> scorings;
  GenerationWatch* watch = nullptr;           // not used once the call has ended
  std::function<void(ModelBackend&)> change;  // change of the weights; then the call has no requests
  std::vector<Completion> completions;
  std::vector<TokenScores> scores;         // results of score
  std::vector<std::vector<float>> states;  // results of states
  std::size_t remaining = 0;               // sequences that have not ended
  bool ended = false;
  std::promise<void> done;
};

}  // namespace agon::agents
