// agents/engine/weight_comparison.h - how far a model in a smaller type is from the same model in fp32, on a few texts
// that come with agon: prose, code, sums, JSON, two other languages.
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
  std::int64_t tokens = 0;        // of the texts, that both models scored
  // Of the log-probabilities of the texts' tokens: |difference|, in nats.
  double mean = 0, largest = 0;
  double equal_greedy = 0;  // share of places where both find the same token likeliest
};

// One of each kind, in order. Keys and values are of the wish's type, in the reference of f32. Models are loaded one
// after another; `done` is called after each, the reference first. Throws Error for a model that does not fit
// (require_memory) and for a tokenizer that gives no tokens.
std::vector<WeightDifference> compare_weights(const ModelFolder& model, std::span<const WeightKind> kinds,
                                              const MemoryWish& wish, const std::function<void()>& done);

}  // namespace agon::agents
