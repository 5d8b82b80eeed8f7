// serve/reward_answer.h - a reward model's endpoints, in vLLM's forms: /v1/score and /v1/rerank score N responses to
// one prompt in one pass; /pooling scores the steps of a solution as Qwen's process reward models do. The functions
// throw Refused.
#pragma once

#include <string>

#include "core/json.h"
#include "critic/reward_model/reward_model.h"
#include "serve/chat_request.h"

namespace agon::serve {

// A reward model, and what clients call it.
struct ServedRewardModel {
  critic::RewardModel& model;
  std::string name;
};

// {"text_1", "text_2"}: a prompt and its responses, or as many prompts as responses. A prompt is a text, an object with
// the "content" of a message (pictures), or "messages" in place of "text_1": a conversation. Of each response: "score",
// and "probability" that it is right.
Json answer_score(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits);
// {"query", "documents", "top_n"}: the responses to the query, best first.
Json answer_rerank(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits);
// {"messages"}: the last one is the assistant's, with "<extra_0>" behind each step. Of each step [P(wrong), P(right)]
// of the solution up to it.
Json answer_pooling(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits);

}  // namespace agon::serve
