#include "serve/chat_answer.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/rng.h"
#include "core/text.h"
#include "serve/chat_tools.h"

namespace agon::serve {
namespace {

constexpr double kLeastLogprob = -9999;  // for probability 0, since JSON has no infinity

Json number_of(float logprob) {
  if (std::isnan(logprob)) return nullptr;
  return std::max<double>(logprob, kLeastLogprob);
}

std::string reason_of(const agents::Completion& completion, bool calls) {
  if (completion.finish_reason != agents::FinishReason::stop) return "length";
  return calls ? "tool_calls" : "stop";
}

Json stop_of(const agents::Completion& completion) {
  return completion.matched_stop.empty() ? Json() : Json(completion.matched_stop);
}

ToldTokens told(const agents::Completion& completion) {
  return {completion.token_ids, completion.logprobs, completion.alternatives};
}

}  // namespace

AnswerHead new_head(std::string_view prefix, std::string model) {
  return {fmt::format("{}{:016x}{:016x}", prefix, fresh_seed(), fresh_seed()), std::move(model),
          static_cast<std::int64_t>(std::time(nullptr))};
}

Json usage_json(const TokenCounts& counts) {
  return {{"prompt_tokens", counts.prompt},
          {"completion_tokens", counts.completion},
          {"total_tokens", counts.prompt + counts.completion},
          {"prompt_tokens_details", {{"cached_tokens", counts.cached}}}};
}

std::string event_of(const Json& json) { return "data: " + to_text(json) + "\n\n"; }

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_within_character(byte); }));
}

AnswerWriter::AnswerWriter(AnswerForm form, AnswerHead head, const AnswerOptions& options,
                           const agents::Tokenizer& tokenizer)
    : form_(form), head_(std::move(head)), options_(options), tokenizer_(tokenizer) {
  // Events that have only a text differ in index and text alone: the rest is written once.
  constexpr std::size_t kIndex = 9'876'543'210;
  constexpr std::string_view kText = "(the text)";
  const std::string event = event_of(top(Json::array({event_choice(kIndex, kText, {}, 0)}), true));
  const std::string index = std::to_string(kIndex), text = to_text(Json(kText));
  const std::size_t at_index = event.rfind(index), at_text = event.rfind(text);
  before_index_ = event.substr(0, at_index);
  before_text_ = event.substr(at_index + index.size(), at_text - at_index - index.size());
  behind_text_ = event.substr(at_text + text.size());
}

std::string AnswerWriter::plain_piece(std::size_t index, std::string_view text) const {
  return before_index_ + std::to_string(index) + before_text_ + to_text(Json(text)) + behind_text_;
}

std::string AnswerWriter::text_of(const agents::Completion& completion) const {
  const std::size_t cut = options_.include_stop ? 0 : completion.matched_stop.size();
  return completion.text.substr(0, completion.text.size() - std::min(cut, completion.text.size()));
}

Json AnswerWriter::top(Json choices, bool is_event) const {
  const char* const object = form_ == AnswerForm::text ? "text_completion"
                             : is_event                ? "chat.completion.chunk"
                                                       : "chat.completion";
  return {{"id", head_.id},
          {"object", object},
          {"created", head_.created},
          {"model", head_.model},
          {"choices", std::move(choices)}};
}

std::string AnswerWriter::token_name(std::int32_t id) const {
  return options_.tokens_as_ids ? fmt::format("token_id:{}", id) : valid_utf8(tokenizer_.token_bytes(id));
}

Json AnswerWriter::chat_logprobs(const ToldTokens& tokens) const {
  const auto entry = [&](std::int32_t id, float logprob) {
    Json bytes = Json::array();
    for (const char byte : tokenizer_.token_bytes(id)) bytes.push_back(static_cast<unsigned char>(byte));
    return Json{{"token", token_name(id)}, {"id", id}, {"logprob", number_of(logprob)}, {"bytes", std::move(bytes)}};
  };
  Json content = Json::array();
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    Json one = entry(tokens.ids[i], tokens.logprobs[i]);
    one["top_logprobs"] = Json::array();
    if (i < tokens.likeliest.size())
      for (const agents::Alternative& other : tokens.likeliest[i])
        one["top_logprobs"].push_back(entry(other.id, other.logprob));
    content.push_back(std::move(one));
  }
  return {{"content", std::move(content)}};
}

Json AnswerWriter::text_logprobs(const ToldTokens& tokens, std::size_t offset) const {
  Json names = Json::array(), values = Json::array(), likeliest = Json::array(), offsets = Json::array();
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    const std::string name = token_name(tokens.ids[i]);
    const Json value = number_of(tokens.logprobs[i]);
    names.push_back(name);
    values.push_back(value);
    offsets.push_back(offset);
    offset += characters_of(tokens.ids.subspan(i, 1));
    Json others = Json::object();
    if (i < tokens.likeliest.size())
      for (const agents::Alternative& other : tokens.likeliest[i])
        others[token_name(other.id)] = number_of(other.logprob);
    if (!value.is_null()) others[name] = value;
    likeliest.push_back(value.is_null() ? Json() : std::move(others));
  }
  return {{"tokens", std::move(names)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", std::move(likeliest)},
          {"text_offset", std::move(offsets)}};
}

std::size_t AnswerWriter::characters_of(std::span<const std::int32_t> ids) const {
  std::size_t count = 0;
  for (const std::int32_t id : ids) count += character_count(tokenizer_.token_bytes(id));
  return count;
}

Json AnswerWriter::logprobs(const ToldTokens& tokens, std::size_t offset) const {
  if (!options_.logprobs) return nullptr;
  return form_ == AnswerForm::chat ? chat_logprobs(tokens) : text_logprobs(tokens, offset);
}

// vLLM's format: one object per token, whose keys are token ids, the token's own first.
Json AnswerWriter::prompt_logprobs(const ToldTokens& prompt) const {
  const auto add = [this](Json& places, std::int32_t id, const Json& logprob, const Json& rank) {
    const std::string key = std::to_string(id);
    if (!places.contains(key)) places[key] = {{"logprob", logprob}, {"rank", rank}, {"decoded_token", token_name(id)}};
  };
  Json list = Json::array();
  for (std::size_t i = 0; i < prompt.ids.size(); ++i) {
    const Json logprob = number_of(prompt.logprobs[i]);
    Json& places = list.emplace_back();
    if (logprob.is_null()) continue;
    const std::size_t told = i < prompt.likeliest.size() ? prompt.likeliest[i].size() : 0;
    std::size_t rank = 0;
    while (rank < told && prompt.likeliest[i][rank].id != prompt.ids[i]) ++rank;
    add(places, prompt.ids[i], logprob, rank < told ? Json(rank + 1) : Json());
    const auto most = static_cast<std::size_t>(options_.prompt_logprobs.value_or(0));
    for (rank = 0; rank < std::min(told, most); ++rank)
      add(places, prompt.likeliest[i][rank].id, number_of(prompt.likeliest[i][rank].logprob), rank + 1);
  }
  return list;
}

Json AnswerWriter::choice(std::size_t index, const agents::Completion& completion, const ToldTokens& prompt,
                          const std::string* echo) const {
  const auto [text, calls] = parts_of_answer(text_of(completion), options_.most_calls);
  Json choice{{"index", index}};
  if (form_ == AnswerForm::chat)
    choice["message"] = {{"role", "assistant"}, {"content", text}};
  else
    choice["text"] = (echo ? *echo : "") + text;
  if (!calls.empty()) {
    choice["message"]["tool_calls"] = tool_calls_json(calls, false);
    if (trim(text).empty()) choice["message"]["content"] = nullptr;
  }
  choice["logprobs"] = logprobs(told(completion), echo ? character_count(*echo) : 0);
  if (echo && options_.logprobs) {
    Json all = text_logprobs(prompt, 0);
    for (auto& [key, list] : all.items())
      for (Json& value : choice["logprobs"][key]) list.push_back(std::move(value));
    choice["logprobs"] = std::move(all);
  }
  choice["finish_reason"] = reason_of(completion, !calls.empty());
  choice["stop_reason"] = stop_of(completion);
  if (options_.return_token_ids) {
    choice["token_ids"] = completion.token_ids;
    choice["prompt_token_ids"] = std::vector<std::int32_t>(prompt.ids.begin(), prompt.ids.end());
  }
  if (options_.prompt_logprobs && form_ == AnswerForm::text) choice["prompt_logprobs"] = prompt_logprobs(prompt);
  return choice;
}

Json AnswerWriter::whole(Json choices, const ToldTokens& first_prompt, const TokenCounts& counts) const {
  Json answer = top(std::move(choices), false);
  answer["usage"] = usage_json(counts);
  if (options_.prompt_logprobs && form_ == AnswerForm::chat) answer["prompt_logprobs"] = prompt_logprobs(first_prompt);
  return answer;
}

Json AnswerWriter::event_choice(std::size_t index, std::string_view text, const ToldTokens& tokens,
                                std::size_t offset) const {
  Json choice{{"index", index}};
  if (form_ == AnswerForm::text)
    choice["text"] = text;
  else
    choice["delta"] = text.empty() ? Json::object() : Json{{"content", text}};
  choice["logprobs"] = tokens.ids.empty() ? Json() : logprobs(tokens, offset);
  choice["finish_reason"] = nullptr;
  if (options_.return_token_ids) choice["token_ids"] = std::vector<std::int32_t>(tokens.ids.begin(), tokens.ids.end());
  return choice;
}

std::string AnswerWriter::first_event(std::size_t index, const ToldTokens& prompt) const {
  if (form_ == AnswerForm::text && !options_.return_token_ids) return {};
  Json choice = event_choice(index, "", {}, 0);
  if (form_ == AnswerForm::chat) choice["delta"] = {{"role", "assistant"}, {"content", ""}};
  if (options_.return_token_ids)
    choice["prompt_token_ids"] = std::vector<std::int32_t>(prompt.ids.begin(), prompt.ids.end());
  return event_of(top(Json::array({choice}), true));
}

std::string AnswerWriter::echo_event(std::size_t index, std::string_view text, const ToldTokens& prompt) const {
  Json choice = event_choice(index, text, prompt.logprobs.empty() ? ToldTokens{} : prompt, 0);
  choice.erase("token_ids");  // that key is for the completion's tokens
  return event_of(top(Json::array({std::move(choice)}), true));
}

std::string AnswerWriter::piece_event(std::size_t index, std::string_view text, const ToldTokens& tokens,
                                      std::size_t offset) const {
  if (tokens.ids.empty() && !text.empty()) return plain_piece(index, text);
  return event_of(top(Json::array({event_choice(index, text, tokens, offset)}), true));
}

std::string AnswerWriter::last_event(std::size_t index, std::string_view text, const ToldTokens& tokens,
                                     std::size_t offset, const agents::Completion& completion) const {
  const auto [said, calls] = parts_of_answer(text_of(completion), options_.most_calls);
  Json choice = event_choice(index, text, tokens, offset);
  if (!calls.empty()) choice["delta"]["tool_calls"] = tool_calls_json(calls, true);
  choice["finish_reason"] = reason_of(completion, !calls.empty());
  choice["stop_reason"] = stop_of(completion);
  return event_of(top(Json::array({choice}), true));
}

std::string AnswerWriter::usage_event(const TokenCounts& counts) const {
  Json event = top(Json::array(), true);
  event["usage"] = usage_json(counts);
  return event_of(event);
}

}  // namespace agon::serve
