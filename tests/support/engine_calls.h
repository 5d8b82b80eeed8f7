// tests/support/engine_calls.h - makes requests to an engine and compares their results.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "agents/engine/engine.h"

namespace agon::test {

using Ids = std::vector<std::int32_t>;

inline agents::GenerationRequest request_of(Ids ids, int max_tokens, int n = 1) {
  agents::GenerationRequest request{{std::move(ids), {}}, n, {}};
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 0.3;
  return request;
}

inline void check_equal(const std::vector<agents::Completion>& a, const std::vector<agents::Completion>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].token_ids == b[i].token_ids);
    CHECK(a[i].logprobs == b[i].logprobs);
  }
}

// The result of a call. Fails the test if it takes more than a minute; the call is then left running.
template <typename Result>
Result in_time(std::future<Result> result) {
  if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    new std::future<Result>(std::move(result));  // leaked, because its destructor would wait
    FAIL("a call does not end");
  }
  return result.get();
}

// Makes the states of every prompt with this token NaN; the head does not change. REQUIRES: fp32 weights.
inline void poison_embedding(agents::EngineWeights& weights, int token) {
  constexpr int kPanel = 32;  // outputs per panel
  agents::TypedLinear poisoned = *weights.embedding;
  auto& floats = std::get<kernels::PackedLinear>(poisoned.parts.at(0));
  float* const column = floats.panels.data() + token / kPanel * floats.inputs * kPanel + token % kPanel;
  for (int k = 0; k < floats.inputs; ++k) column[k * kPanel] = NAN;
  weights.embedding = std::make_shared<const agents::TypedLinear>(std::move(poisoned));
}

}  // namespace agon::test
