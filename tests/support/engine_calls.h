// tests/support/engine_calls.h - calls of an engine, and what they brought.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <utility>
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

// Fails the test if it takes more than a minute; the call is then left to the program's end.
template <typename Result>
Result in_time(std::future<Result> result) {
  if (result.wait_for(std::chrono::minutes(1)) != std::future_status::ready) {
    new std::future<Result>(std::move(result));  // its destructor would wait
    FAIL("a call does not end");
  }
  return result.get();
}

}  // namespace agon::test
