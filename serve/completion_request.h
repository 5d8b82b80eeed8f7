// serve/completion_request.h - reads the JSON of POST /v1/completions: prompts as text or token ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "serve/answer_options.h"

namespace agon::serve {

// A prompt, given as text or as token ids.
struct TextPrompt {
  std::string text;  // names of special tokens in it are encoded as those tokens
  std::vector<std::int32_t> token_ids;
};

struct TextCall {
  std::vector<TextPrompt> prompts;  // none of them empty
  int n = 1;                        // samples per prompt
  agents::Sampling sampling;        // max_tokens 0 (only with `echo`): writes no token
  AnswerOptions answer;
};

// Reads every key except "model", which the server checks.
Checked<TextCall> read_text_call(const SortedJson& body);

}  // namespace agon::serve
