// serve/reward_answer.h - a reward model's endpoints, in vLLM's format: /v1/score and /v1/rerank score N responses to
// one prompt in one pass. The functions throw Refused, also once `stop` is set.
#pragma once

#include <atomic>
#include <string>

#include "core/json.h"
#include "critic/reward_model/reward_model.h"
#include "serve/chat_request.h"

namespace agon::serve {

// A reward model and its name for clients.
struct ServedRewardModel {
  critic::RewardModel& model;
  std::string name;
};

// {"text_1", "text_2"}: one prompt, or a list with one prompt per response; and the responses. A prompt is a text, or
// an object with the "content" of a message (for pictures). "messages", a conversation, may replace "text_1". Each
// response gets a "score" and the "probability" that it is right.
Json answer_score(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                  const std::atomic<bool>& stop);
// {"query", "documents", "top_n"}: the responses to the query, best first.
Json answer_rerank(const SortedJson& body, const ServedRewardModel& served, const PictureLimits& limits,
                   const std::atomic<bool>& stop);

}  // namespace agon::serve
