// serve/completion_request.h - reads the JSON of POST /v1/completions: prompts as text or token ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "serve/answer_options.h"

namespace agon::serve {

// One of the two.
struct TextPrompt {
  std::string text;  // special tokens in it are tokens
  std::vector<std::int32_t> token_ids;
};

struct TextCall {
  std::vector<TextPrompt> prompts;  // none of them empty
  int n = 1;                        // samples of each
  agents::Sampling sampling;        // max_tokens 0: nothing is written (with `echo`, to score the prompt)
  AnswerOptions answer;
};

// Everything but "model", which is the server's business.
Checked<TextCall> read_text_call(const SortedJson& body);

}  // namespace agon::serve
