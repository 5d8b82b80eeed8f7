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

// A prompt that is part of the answer.
struct EchoedPrompt {
  std::string text;
  std::vector<float> logprobs;  // of its tokens, the first NaN; none where they were not asked for
};

struct Generation {
  AnswerForm form = AnswerForm::chat;
  AnswerOptions options;
  std::vector<agents::GenerationRequest> requests;  // all with the same sampling and n
  std::vector<EchoedPrompt> echoed;                 // of each request, or none
};

// Throws Refused, before anything is sent.
net::HttpServerAnswer run_generation(ServedPolicy& policy, const Generation& generation,
                                     const net::HttpServerRequest& request, Metrics& metrics);

}  // namespace agon::serve
