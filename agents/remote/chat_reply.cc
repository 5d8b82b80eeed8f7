#include "agents/remote/chat_reply.h"

#include <algorithm>
#include <cmath>

#include "core/json_parse.h"
#include "core/text.h"

namespace agon::agents {
namespace {

constexpr int kMostAnswers = 1024;

const SortedJson& at_or_null(const SortedJson& json, const char* key) {
  static const SortedJson kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(key);
  return found == json.end() ? kNull : *found;
}

std::string text_in(const SortedJson& json, const char* key) { return text_or_empty(json, key); }

// Clamps the value: for impossible tokens some servers write numbers beyond the range of float.
float logprob_of(const SortedJson& number) {
  return static_cast<float>(std::clamp(number.get<double>(), -9999.0, 0.0));
}

int count_in(const SortedJson& json, const char* key) {
  return whole_number(at_or_null(json, key), 0, 1 << 30).value_or(0);
}

// The bytes of a token. Servers list them, since a token's text may not be printable.
std::string token_text(const SortedJson& entry) {
  const SortedJson& bytes = at_or_null(entry, "bytes");
  if (!bytes.is_array()) return text_in(entry, "token");
  std::string text;
  for (const SortedJson& byte : bytes) text += static_cast<char>(whole_number(byte, 0, 255).value_or('?'));
  return text;
}

void read_logprobs(const SortedJson& logprobs, ChatAnswer& answer) {
  const SortedJson& content = at_or_null(logprobs, "content");
  if (!content.is_array()) return;
  for (const SortedJson& entry : content) {
    const SortedJson& logprob = at_or_null(entry, "logprob");
    if (!logprob.is_number()) continue;
    answer.tokens.push_back(token_text(entry));
    answer.logprobs.push_back(logprob_of(logprob));
    if (const auto id = whole_number(at_or_null(entry, "id"), 0, INT32_MAX)) answer.token_ids.push_back(*id);
    auto& likeliest = answer.likeliest.emplace_back();
    const SortedJson& top = at_or_null(entry, "top_logprobs");
    if (!top.is_array()) continue;
    for (const SortedJson& one : top)
      if (at_or_null(one, "logprob").is_number())
        likeliest.emplace_back(token_text(one), logprob_of(at_or_null(one, "logprob")));
  }
}

// The format of /v1/completions: parallel lists, with one object per token for the most likely ones.
void read_text_logprobs(const SortedJson& logprobs, ChatAnswer& answer) {
  const SortedJson &tokens = at_or_null(logprobs, "tokens"), &values = at_or_null(logprobs, "token_logprobs"),
                   &tops = at_or_null(logprobs, "top_logprobs");
  if (!tokens.is_array() || !values.is_array()) return;
  for (std::size_t i = 0; i < std::min(tokens.size(), values.size()); ++i) {
    if (!tokens[i].is_string()) continue;
    answer.tokens.push_back(tokens[i]);  // the first token of a prompt has no probability
    answer.logprobs.push_back(values[i].is_number() ? logprob_of(values[i]) : std::nanf(""));
    auto& likeliest = answer.likeliest.emplace_back();
    if (!tops.is_array() || i >= tops.size() || !tops[i].is_object()) continue;
    for (const auto& [token, logprob] : tops[i].items())
      if (logprob.is_number()) likeliest.emplace_back(token, logprob_of(logprob));
    std::ranges::sort(likeliest, [](const auto& a, const auto& b) { return a.second > b.second; });
  }
}

// Reads a "message" or a "delta".
void read_message(const SortedJson& message, ChatAnswer& answer) {
  const std::string text = text_in(message, "content");
  answer.text += text;
  for (const char* key : {"reasoning_content", "reasoning"})
    if (const std::string reasoning = text_in(message, key); !reasoning.empty()) {
      answer.reasoning += reasoning;
      break;
    }
  answer.chunks += !text.empty();
}

void read_choice(const SortedJson& choice, ChatReply& reply) {
  const int index = whole_number(at_or_null(choice, "index"), 0, kMostAnswers - 1).value_or(0);
  if (index >= std::ssize(reply.answers)) reply.answers.resize(static_cast<std::size_t>(index) + 1);
  ChatAnswer& answer = reply.answers[static_cast<std::size_t>(index)];
  for (const char* key : {"message", "delta"}) {
    const SortedJson& message = at_or_null(choice, key);
    answer.is_told = answer.is_told || message.is_object();
    read_message(message, answer);
  }
  answer.is_told = answer.is_told || at_or_null(choice, "text").is_string();
  const std::string text = text_in(choice, "text");
  answer.text += text;
  answer.chunks += !text.empty();
  read_logprobs(at_or_null(choice, "logprobs"), answer);
  read_text_logprobs(at_or_null(choice, "logprobs"), answer);
  if (const std::string reason = text_in(choice, "finish_reason"); !reason.empty()) answer.finish_reason = reason;
  for (const char* key : {"stop_reason", "matched_stop"})
    if (const std::string stop = text_in(choice, key); !stop.empty()) answer.stop = stop;
  const SortedJson& ids = at_or_null(choice, "token_ids");
  if (!ids.is_array()) return;
  for (const SortedJson& id : ids)
    if (const auto number = whole_number(id, 0, INT32_MAX)) answer.token_ids.push_back(*number);
}

// vLLM's format: a list with null or an object by token id for each token. Requests ask only for the token's own entry.
void read_prompt_logprobs(const SortedJson& list, ChatReply& reply) {
  if (!list.is_array()) return;
  for (const SortedJson& one : list) {
    if (!one.is_object() || one.size() != 1) {
      reply.prompt.clear();  // tokens before a gap cannot spell an ending
      continue;
    }
    const SortedJson& entry = one.front();
    const SortedJson& logprob = at_or_null(entry, "logprob");
    if (logprob.is_number()) reply.prompt.push_back({text_in(entry, "decoded_token"), logprob_of(logprob)});
  }
}

// Reads one object: a whole reply, or an event of a stream.
void read_object(const SortedJson& json, ChatReply& reply) {
  if (const SortedJson& error = at_or_null(json, "error"); !error.is_null()) {
    reply.fault = error_text(json.dump(-1, ' ', false, SortedJson::error_handler_t::replace));
    return;
  }
  if (const std::string model = text_in(json, "model"); !model.empty()) reply.model = model;
  const SortedJson& choices = at_or_null(json, "choices");
  if (choices.is_array())
    for (const SortedJson& choice : choices) read_choice(choice, reply);
  read_prompt_logprobs(at_or_null(json, "prompt_logprobs"), reply);
  if (const SortedJson& usage = at_or_null(json, "usage"); usage.is_object())
    reply.usage = ChatUsage{count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens"),
                            count_in(at_or_null(usage, "prompt_tokens_details"), "cached_tokens")};
}

ParsedJson parsed(std::string_view text) { return parse_json(text, kDeepestJson); }

}  // namespace

std::optional<std::vector<float>> ending_logprobs(const std::vector<PromptToken>& prompt, std::string_view ending) {
  std::string spelled;
  std::size_t first = prompt.size();
  while (spelled.size() < ending.size() && first > 0) spelled.insert(0, prompt[--first].text);
  if (ending.empty() || !spelled.ends_with(ending)) return std::nullopt;
  std::vector<float> logprobs;
  for (std::size_t i = first; i < prompt.size(); ++i) {
    if (std::isnan(prompt[i].logprob)) return std::nullopt;
    logprobs.push_back(prompt[i].logprob);
  }
  return logprobs;
}

std::vector<PromptToken> echoed_prompt(const ChatAnswer& answer, std::string_view prompt) {
  std::size_t count = answer.tokens.size(), bytes = 0;
  const std::size_t written = answer.text.starts_with(prompt) ? answer.text.size() - prompt.size() : 1;
  while (count > 0 && (bytes < written || answer.tokens[count - 1].empty())) bytes += answer.tokens[--count].size();
  std::vector<PromptToken> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back({answer.tokens[i], answer.logprobs[i]});
  return tokens;
}

ChatReply read_chat_reply(std::string_view body) {
  ChatReply reply;
  const ParsedJson json = parsed(body);
  if (!json.fault.empty() || !json.value.is_object()) {
    reply.fault = fmt::format("the answer is not a JSON object: {}", shown_text(body));
    return reply;
  }
  read_object(json.value, reply);
  for (const ChatAnswer& answer : reply.answers)
    if (reply.fault.empty() && !answer.is_told)
      reply.fault = fmt::format("an answer has neither a message nor a text: {}", shown_text(body, 200));
  if (reply.fault.empty() && reply.answers.empty())
    reply.fault = fmt::format("the answer has no choices: {}", shown_text(body, 200));
  return reply;
}

bool ChatStream::take(std::string_view data) {
  touched_ = true;
  if (trim(data) == "[DONE]") done_ = true;
  if (done_ || !reply_.fault.empty()) return false;
  const ParsedJson json = parsed(data);
  if (!json.fault.empty() || !json.value.is_object())
    reply_.fault = fmt::format("an event of the stream is not a JSON object: {}", shown_text(data));
  else
    read_object(json.value, reply_);
  return reply_.fault.empty();
}

std::string error_text(std::string_view body) {
  constexpr std::size_t kMost = 300;
  const auto line = [](std::string_view text) { return printable_line(valid_utf8(cut_text(trim(text), kMost))); };
  const ParsedJson json = parsed(body);
  if (!json.fault.empty()) return line(body);
  const SortedJson& error = at_or_null(json.value, "error");
  if (error.is_string()) return line(error.get<std::string>());
  for (const SortedJson* place : {&error, &json.value})
    for (const char* key : {"message", "detail", "msg"})
      if (const std::string text = text_in(*place, key); !text.empty()) return line(text);
  return line(body);
}

}  // namespace agon::agents
