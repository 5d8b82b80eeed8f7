// serve/chat_answer.h - completions as OpenAI's JSON: whole answers, and the events of a stream, of
// /v1/chat/completions and /v1/completions.
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

// What stands at the top of an answer and of each of its events.
struct AnswerHead {
  std::string id, model;  // "chatcmpl-...", "cmpl-..."
  std::int64_t created = 0;
};
AnswerHead new_head(std::string_view prefix, std::string model);

// A stretch of tokens with what there is to tell of them.
struct ToldTokens {
  std::span<const std::int32_t> ids;
  std::span<const float> logprobs;                              // NaN: the token has none; or none of them has
  std::span<const std::vector<agents::Alternative>> likeliest;  // of each, or none
};

struct TokenCounts {
  std::int64_t prompt = 0, completion = 0, cached = 0;
};
Json usage_json(const TokenCounts& counts);

inline const std::string kEndOfStream = "data: [DONE]\n\n";

class AnswerWriter {
 public:
  AnswerWriter(AnswerForm form, AnswerHead head, const AnswerOptions& options, const agents::Tokenizer& tokenizer);

  // The text of a completion as it is answered: without the stop string, unless it was asked for.
  std::string text_of(const agents::Completion& completion) const;

  // One whole choice. `echo`: the text of the prompt, or nullptr.
  Json choice(std::size_t index, const agents::Completion& completion, const ToldTokens& prompt,
              const std::string* echo) const;
  Json whole(Json choices, const ToldTokens& first_prompt, const TokenCounts& counts) const;

  // Events of a stream, as server-sent ones. offset: characters of the text before it.
  // What comes before the text of a choice; empty where there is nothing to tell.
  std::string first_event(std::size_t index, const ToldTokens& prompt) const;
  std::string echo_event(std::size_t index, std::string_view text, const ToldTokens& prompt) const;
  std::string piece_event(std::size_t index, std::string_view text, const ToldTokens& tokens, std::size_t offset) const;
  std::string last_event(std::size_t index, std::string_view text, const ToldTokens& tokens, std::size_t offset,
                         const agents::Completion& completion) const;
  std::string usage_event(const TokenCounts& counts) const;
  std::size_t characters_of(std::span<const std::int32_t> ids) const;  // that begin with one of these tokens

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
  std::string before_index_, before_text_, behind_text_;  // of an event with a text and nothing else
};

std::string event_of(const Json& json);              // "data: {...}\n\n"
std::size_t character_count(std::string_view text);  // of UTF-8

}  // namespace agon::serve
