// serve/chat_answer.h - writes completions as OpenAI's JSON, whole or as events of a stream, for /v1/chat/completions
// and /v1/completions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/policy.h"
#include "core/json.h"
#include "serve/answer_options.h"

namespace agon::serve {

enum class AnswerForm { chat, text };

// Fields at the top of an answer and of each of its events.
struct AnswerHead {
  std::string id, model;  // "chatcmpl-...", "cmpl-..."
  std::int64_t created = 0;
};
AnswerHead new_head(std::string_view prefix, std::string model);

// A run of tokens with the figures that an answer reports about them.
struct ToldTokens {
  std::span<const std::int32_t> ids;
  std::span<const float> logprobs;                              // NaN: unavailable for the token; empty: for all
  std::span<const std::vector<agents::Alternative>> likeliest;  // per token; or empty
};

struct TokenCounts {
  std::int64_t prompt = 0, completion = 0, cached = 0;
};
Json usage_json(const TokenCounts& counts);

inline const std::string kEndOfStream = "data: [DONE]\n\n";

class AnswerWriter {
 public:
  AnswerWriter(AnswerForm form, AnswerHead head, const AnswerOptions& options, const agents::Tokenizer& tokenizer);

  // The text of a completion in the answer: without the stop string, unless the request includes it.
  std::string text_of(const agents::Completion& completion) const;

  // One complete choice. echo: the prompt's text, put before the answer; null: none.
  Json choice(std::size_t index, const agents::Completion& completion, const ToldTokens& prompt,
              const std::string* echo) const;
  Json whole(Json choices, const ToldTokens& first_prompt, const TokenCounts& counts) const;

  // Server-sent events of a stream. offset: number of characters in the text before the event.
  // The event before the text of a choice; empty if there is none.
  std::string first_event(std::size_t index, const ToldTokens& prompt) const;
  std::string echo_event(std::size_t index, std::string_view text, const ToldTokens& prompt) const;
  std::string piece_event(std::size_t index, std::string_view text, const ToldTokens& tokens, std::size_t offset) const;
  std::string last_event(std::size_t index, std::string_view text, const ToldTokens& tokens, std::size_t offset,
                         const agents::Completion& completion) const;
  std::string usage_event(const TokenCounts& counts) const;
  std::size_t characters_of(std::span<const std::int32_t> ids) const;  // characters that start in these tokens

 private:
  Json top(Json choices, bool is_event) const;
  std::string plain_piece(std::size_t index, std::string_view text) const;
  Json logprobs(const ToldTokens& tokens, std::size_t offset) const;
  Json chat_logprobs(const ToldTokens& tokens) const;
  Json text_logprobs(const ToldTokens& tokens, std::size_t offset) const;
  Json prompt_logprobs(const ToldTokens& prompt) const;
  std::string token_name(std::int32_t id) const;
  Json event_choice(std::size_t index, std::string_view text, const ToldTokens& tokens, std::size_t offset) const;

  const AnswerForm form_;
  const AnswerHead head_;
  const AnswerOptions options_;
  const agents::Tokenizer& tokenizer_;
  std::string before_index_, before_text_, behind_text_;  // of an event that has only a text
};

std::string event_of(const Json& json);              // "data: {...}\n\n"
std::size_t character_count(std::string_view text);  // of UTF-8

}  // namespace agon::serve
