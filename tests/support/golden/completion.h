// tests/support/golden/completion.h - compares a policy's greedy completions with those of transformers.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "agents/policy.h"
#include "core/json.h"

namespace agon::test {

// Checks that the policy scores its greedy completion with the same bits as the log-probabilities it gave while
// writing.
inline void check_scored_alike(agents::Policy& policy, const agents::CompletionRequest& request,
                               const agents::Completion& completion) {
  const agents::ScoreRequest again{request.messages, completion.token_ids, 1.0};
  CHECK(policy.score({&again, 1}).at(0).logprobs == completion.logprobs);
}

// expected: the golden "prompt_ids", "ids" and "logprobs". Also calls check_scored_alike.
inline void check_golden_completion(agents::Policy& policy, const agents::CompletionRequest& request,
                                    const agents::Completion& completion, const Json& expected) {
  CHECK(completion.prompt_tokens == static_cast<int>(expected["prompt_ids"].size()));
  CHECK(completion.token_ids == expected["ids"].get<std::vector<std::int32_t>>());
  const auto logprobs = expected["logprobs"].get<std::vector<double>>();
  REQUIRE(completion.logprobs.size() == logprobs.size());
  for (std::size_t t = 0; t < logprobs.size(); ++t)
    CHECK(static_cast<double>(completion.logprobs[t]) == Approx(logprobs[t]).margin(1e-4));
  check_scored_alike(policy, request, completion);
}

}  // namespace agon::test
