#include "serve/chat_answer.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <random>

#include "core/text.h"

namespace agon::serve {
namespace {

constexpr double kLeastLogprob = -9999;  // of what has no probability: JSON has no infinity

Json number_of(float logprob) {
  if (std::isnan(logprob)) return nullptr;
  return std::max<double>(logprob, kLeastLogprob);
}

std::string reason_of(const agents::Completion& completion) {
  return completion.finish_reason == agents::FinishReason::stop ? "stop" : "length";
}

Json stop_of(const agents::Completion& completion) {
  return completion.matched_stop.empty() ? Json() : Json(completion.matched_stop);
}

ToldTokens told(const agents::Completion& completion) {
  return {completion.token_ids, completion.logprobs, completion.alternatives};
}

}  // namespace

AnswerHead new_head(std::string_view prefix, std::string model) {
  std::random_device device;
  return {fmt::format("{}{:08x}{:08x}{:08x}", prefix, device(), device(), device()), std::move(model),
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
    offset += character_count(valid_utf8(tokenizer_.token_bytes(tokens.ids[i])));
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

Json AnswerWriter::logprobs(const ToldTokens& tokens, std::size_t offset) const {
  if (!options_.logprobs) return nullptr;
  return form_ == AnswerForm::chat ? chat_logprobs(tokens) : text_logprobs(tokens, offset);
}

Json AnswerWriter::choice(std::size_t index, const agents::Completion& completion,
                          std::span<const std::int32_t> prompt_ids, std::string_view before,
                          const ToldTokens& before_tokens) const {
  const std::string text = text_of(completion);
  Json choice{{"index", index}};
  if (form_ == AnswerForm::chat)
    choice["message"] = {{"role", "assistant"}, {"content", text}};
  else
    choice["text"] = std::string(before) + text;
  choice["logprobs"] = logprobs(told(completion), character_count(before));
  if (options_.logprobs && !before_tokens.ids.empty()) {
    Json all = text_logprobs(before_tokens, 0);
    for (auto& [key, list] : all.items())
      for (Json& value : choice["logprobs"][key]) list.push_back(std::move(value));
    choice["logprobs"] = std::move(all);
  }
  choice["finish_reason"] = reason_of(completion);
  choice["stop_reason"] = stop_of(completion);
  if (options_.return_token_ids) {
    choice["token_ids"] = completion.token_ids;
    choice["prompt_token_ids"] = std::vector<std::int32_t>(prompt_ids.begin(), prompt_ids.end());
  }
  return choice;
}

Json AnswerWriter::whole(Json choices, const TokenCounts& counts) const {
  Json answer = top(std::move(choices), false);
  answer["usage"] = usage_json(counts);
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

std::string AnswerWriter::first_event(std::size_t index) const {
  if (form_ == AnswerForm::text) return {};
  const Json choice{{"index", index},
                    {"delta", {{"role", "assistant"}, {"content", ""}}},
                    {"logprobs", nullptr},
                    {"finish_reason", nullptr}};
  return event_of(top(Json::array({choice}), true));
}

std::string AnswerWriter::piece_event(std::size_t index, std::string_view text, const ToldTokens& tokens,
                                      std::size_t offset) const {
  return event_of(top(Json::array({event_choice(index, text, tokens, offset)}), true));
}

std::string AnswerWriter::last_event(std::size_t index, std::string_view text, const ToldTokens& tokens,
                                     std::size_t offset, const agents::Completion& completion) const {
  Json choice = event_choice(index, text, tokens, offset);
  choice["finish_reason"] = reason_of(completion);
  choice["stop_reason"] = stop_of(completion);
  return event_of(top(Json::array({choice}), true));
}

std::string AnswerWriter::usage_event(const TokenCounts& counts) const {
  Json event = top(Json::array(), true);
  event["usage"] = usage_json(counts);
  return event_of(event);
}

}  // namespace agon::serve
