// agents/engine/call.h - a call as the engine's callers and its thread exchange it.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <vector>

#include "agents/engine/engine.h"

namespace agon::agents {

// One call of Engine::generate, score or states. Its thread waits for `done`; until then the engine's thread owns it.
// It ends once: with its results or with an Error.
struct EngineCall {
  void succeed() noexcept;
  void fail(const std::exception_ptr& why) noexcept;  // as an Error, whatever was thrown
  std::vector<GenerationRequest> generations;
  std::vector<ScoringRequest> scorings;
  GenerationWatch* watch = nullptr;           // not touched once the call has ended
  std::function<void(ModelBackend&)> change;  // of the weights; then the call holds nothing else
  std::vector<Completion> completions;
  std::vector<TokenScores> scores;         // results of a scoring call: either these
  std::vector<std::vector<float>> states;  // or these
  std::size_t remaining = 0;               // sequences
  bool ended = false;
  std::promise<void> done;
};

}  // namespace agon::agents
