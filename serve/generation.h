// serve/generation.h - runs what a client asked the policy for: as a whole, or as a stream of events while it is
// written. A client that goes ends its generation.
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
  std::string model;  // the name that the answer tells
  AnswerForm form = AnswerForm::chat;
  AnswerOptions options;
  std::vector<agents::GenerationRequest> requests;  // all with the same sampling and n
  std::vector<std::string> echoed;                  // prompts that begin the answers: of each request, or none
  std::vector<agents::TokenScores> prompt_scores;   // ServedPolicy::score_prompts of them, or none
  agents::Deadline deadline = agents::kNoDeadline;
};

// Throws Refused, before anything is sent.
net::HttpServerAnswer run_generation(ServedPolicy& policy, const Generation& generation,
                                     const net::HttpServerRequest& request, Metrics& metrics);

}  // namespace agon::serve
