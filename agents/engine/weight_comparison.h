// agents/engine/weight_comparison.h - measures how much a model in a smaller weight type differs from the same model in
// fp32, on a few built-in texts: prose, code, arithmetic, JSON and two other languages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "agents/engine/memory_plan.h"
#include "agents/hub/model_folder.h"

namespace agon::agents {

struct WeightDifference {
  WeightKind weights = WeightKind::automatic;
  std::int64_t weight_bytes = 0;  // of the loaded weights
  std::int64_t tokens = 0;        // tokens of the texts that both models scored
  // |difference| of the tokens' log-probabilities, in nats.
  double mean = 0, largest = 0;
  double equal_greedy = 0;  // share of places at which both models have the same most likely token
};

// Returns one difference per kind, in order. Keys and values have the wish's type; in the reference they are f32.
// Models are loaded one after another; `done` is called after each, the reference first. Throws Error for a model that
// does not fit (require_memory) and for a tokenizer that gives too few tokens.
std::vector<WeightDifference> compare_weights(const ModelFolder& model, std::span<const WeightKind> kinds,
                                              const MemoryWish& wish, const std::function<void()>& done);

}  // namespace agon::agents
