// serve/answer_options.h - reads the request options that /v1/chat/completions and /v1/completions share: sampling,
// contents of the answer, and options that this server refuses.
#pragma once

#include <cstddef>
#include <optional>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/policy.h"
#include "serve/request_fields.h"

namespace agon::serve {

inline constexpr int kMostSamples = 128;     // per request
inline constexpr int kMostTopLogprobs = 20;  // per token
inline constexpr std::size_t kMostStops = 32, kMostStopBytes = 256;
inline constexpr std::size_t kMostBanned = 4096;  // banned token sequences

struct AnswerOptions {
  bool streams = false, include_usage = false;  // include_usage: a last event counts the tokens
  bool logprobs = false;
  int top_logprobs = 0;
  std::optional<int> prompt_logprobs;  // alternatives per prompt token; empty: no prompt_logprobs
  bool include_stop = false;           // the text keeps the stop string that ended it
  bool return_token_ids = false;       // every choice has "token_ids"
  bool tokens_as_ids = false;          // logprobs name a token "token_id:12"
  bool echo = false;                   // the text begins with the prompt
  std::size_t most_calls = 0;          // most tool calls read from an answer (serve/chat_tools.h)
};

// Reads all sampling keys except max_tokens and logprobs, which each endpoint reads itself.
agents::Sampling read_sampling(const RequestFields& fields);
// Bans each text of "bad_words", alone and after a space, as the token sequence that it is encoded to.
void ban_words(const RequestFields& fields, const agents::Tokenizer& tokenizer, agents::Sampling& sampling);
AnswerOptions read_answer_options(const RequestFields& fields);
int read_samples(const RequestFields& fields);  // "n"
// Throws Refused for an unsupported key that would change the answer, unless its value is neutral.
void refuse_unsupported(const RequestFields& fields);

}  // namespace agon::serve
