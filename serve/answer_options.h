// serve/answer_options.h - what /v1/chat/completions and /v1/completions have in common: how to sample, what to tell
// of it, and what this server does not do.
#pragma once

#include <cstddef>
#include <optional>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/policy.h"
#include "serve/request_fields.h"

namespace agon::serve {

inline constexpr int kMostSamples = 128;     // of a request
inline constexpr int kMostTopLogprobs = 20;  // of a token
inline constexpr std::size_t kMostStops = 32, kMostStopBytes = 256;
inline constexpr std::size_t kMostBanned = 4096;  // runs of tokens

struct AnswerOptions {
  bool streams = false, include_usage = false;  // the last event of a stream counts the tokens
  bool logprobs = false;
  int top_logprobs = 0;
  std::optional<int> prompt_logprobs;  // of the prompt's tokens, and of as many alternatives
  bool include_stop = false;           // the text ends with the stop string
  bool return_token_ids = false;       // "token_ids" of every choice
  bool tokens_as_ids = false;          // logprobs name a token "token_id:12"
  bool echo = false;                   // the text begins with the prompt
  std::size_t most_calls = 0;          // of tools, that are read from an answer (serve/chat_tools.h)
};

// Without max_tokens and logprobs, whose form is the endpoint's.
agents::Sampling read_sampling(const RequestFields& fields);
// "bad_words": texts that are not written, neither alone nor behind a blank, in the tokens that they are encoded as.
void ban_words(const RequestFields& fields, const agents::Tokenizer& tokenizer, agents::Sampling& sampling);
AnswerOptions read_answer_options(const RequestFields& fields);
int read_samples(const RequestFields& fields);  // "n"
// Throws Refused for a key that would change the answer and does nothing here, unless its value is the one that changes
// nothing.
void refuse_unsupported(const RequestFields& fields);

}  // namespace agon::serve
