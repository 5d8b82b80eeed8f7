// serve/generation.h - generates the completions that a client asked for, and answers with them as a whole or as a
// stream of events. Generation stops if the client disconnects.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "agents/engine/engine.h"
#include "net/http_server.h"
#include "serve/chat_answer.h"
#include "serve/metrics.h"
#include "serve/served_policy.h"

namespace agon::serve {

struct Generation {
  std::string model;  // its name in the answer
  AnswerForm form = AnswerForm::chat;
  AnswerOptions options;
  std::vector<agents::GenerationRequest> requests;  // all with the same sampling and n
  std::vector<std::string> echoed;                  // prompts put before the answers: one per request, or empty
  std::vector<agents::TokenScores> prompt_scores;   // ServedPolicy::score_prompts of the requests, or empty
  agents::Deadline deadline = agents::kNoDeadline;
};

// Throws Refused, before anything is sent.
net::HttpServerAnswer run_generation(ServedPolicy& policy, const Generation& generation,
                                     const net::HttpServerRequest& request, Metrics& metrics);

}  // namespace agon::serve
