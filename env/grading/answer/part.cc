#include "env/grading/answer/part.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/json_parse.h"
#include "core/text.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/text.h"
#include "env/protocol.h"

namespace agon::env {
namespace {

constexpr std::pair<std::string_view, std::string_view> kBoxTokens = {"<|begin_of_box|>", "<|end_of_box|>"};

std::string_view without_end_tokens(std::string_view response) {
  response = trim(response);
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view token : {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "</s>", "<eos>"})
      if (response.ends_with(token)) {
        response = trim(response.substr(0, response.size() - token.size()));
        found = true;
      }
  }
  return response;
}

// The response without thoughts: the text after the last </think>, if there is any.
std::string_view behind_thoughts(std::string_view response, std::string_view lower) {
  for (const std::string_view close : {"</think>", "</thinking>", "\u25c1/think\u25b7"}) {
    const std::size_t end = lower.rfind(close);
    if (end != lower.npos && !trim(response.substr(end + close.size())).empty())
      return response.substr(end + close.size());
  }
  return response;
}

// Does a response end within its thoughts?
bool ends_in_thoughts(std::string_view lower) {
  const std::size_t open = std::max(lower.rfind("<think>") + 1, lower.rfind("<thinking>") + 1);
  const std::size_t close = std::max(lower.rfind("</think>") + 1, lower.rfind("</thinking>") + 1);
  return open > close;
}

// The text between the last closed `open` and its `close`; without one, the text after the last `open`.
std::optional<std::string_view> last_between(std::string_view text, std::string_view lower, std::string_view open,
                                             std::string_view close) {
  const std::size_t end = lower.rfind(close);
  std::size_t begin = end == lower.npos ? end : lower.rfind(open, end);
  if (begin == lower.npos) begin = lower.rfind(open);
  if (begin == lower.npos) return {};
  const std::size_t from = begin + open.size(), before = begin > 0 ? lower.rfind(open, begin - 1) : lower.npos;
  if (trim(text.substr(from)).empty() && before != lower.npos)  // "<answer>B<answer>"
    return text.substr(before + open.size(), begin - before - open.size());
  return text.substr(from, lower.find(close, from) - from);
}

std::optional<std::string_view> last_full_box(std::string_view text) {
  const auto tokens = last_between(text, text, kBoxTokens.first, kBoxTokens.second);
  if (tokens && !trim(*tokens).empty()) return tokens;
  // An empty box says nothing, but the one before it may.
  for (std::string_view rest = text;;) {
    const auto box = last_boxed(rest);
    if (!box) return {};
    if (!trim(box->of(rest)).empty()) return box->of(rest);
    if (rest.size() != text.size()) return {};  // two empty boxes in a row: stop
    rest = rest.substr(0, box->begin - 1);
  }
}

std::string without_scores(std::string_view text, std::string_view lower) {
  std::string kept;
  std::size_t from = 0;
  for (std::size_t at = lower.find("<score>"); at != lower.npos; at = lower.find("<score>", from)) {
    kept += text.substr(from, at - from);
    const std::size_t end = lower.find("</score>", at);
    from = end == lower.npos ? text.size() : end + 8;
  }
  kept += text.substr(std::min(from, text.size()));
  for (const char* tag : {"<think>", "</think>", "<answer>", "</answer>"}) kept = replace_all(kept, tag, "\n");
  return kept;
}

// The value of "answer" in the JSON object that ends a text, fenced or not. The object begins at the text's first brace
// or at the last one before that key.
std::optional<std::string> answer_in_object(std::string_view raw) {
  const std::size_t end = raw.rfind('}'), key = std::min(raw.rfind("nswer\""), raw.size());
  if (end == raw.npos || key >= end || raw.find_first_not_of("}` \n\r\t", end) != raw.npos) return {};
  for (const std::size_t begin : {raw.find('{'), raw.rfind('{', key)}) {
    if (begin == raw.npos || begin > key) continue;
    const auto parsed = parse_json(raw.substr(begin, end - begin + 1));
    if (!parsed.fault.empty() || !parsed.value.is_object()) continue;
    for (const char* name : {"final_answer", "answer", "Answer"}) {
      if (!parsed.value.contains(name)) continue;
      const auto& value = parsed.value[name];
      if (value.is_string()) return value.get<std::string>();
      if (value.is_number() || value.is_boolean()) return value.dump();
    }
  }
  return {};
}

}  // namespace

AnswerPart answer_part(std::string_view response) {
  response = without_end_tokens(response);
  const std::string whole = ascii_lower(response);
  const std::string_view said = behind_thoughts(response, whole);
  const std::string_view lower =
      std::string_view(whole).substr(static_cast<std::size_t>(said.data() - response.data()));
  for (const char* name : {"answer", "final_answer"}) {
    const auto inside = last_between(said, lower, fmt::format("<{}>", name), fmt::format("</{}>", name));
    if (!inside) continue;
    const std::string_view raw = trim(last_full_box(*inside).value_or(*inside));
    return {AnswerPart::Kind::tag, plain_text(raw), std::string(raw)};
  }
  if (const auto box = last_full_box(said)) return {AnswerPart::Kind::box, plain_text(*box), std::string(trim(*box))};
  if (ends_in_thoughts(whole)) return {AnswerPart::Kind::whole, "", ""};
  const std::string kept = without_scores(said, lower);
  return {AnswerPart::Kind::whole, plain_text(kept), std::string(trim(kept))};
}

AnswerPart without_object(AnswerPart part) {
  if (const auto answer = answer_in_object(part.raw)) part.text = plain_text(*answer);
  return part;
}

std::string_view to_string(AnswerPart::Kind kind) {
  return kind == AnswerPart::Kind::tag ? "<answer>" : kind == AnswerPart::Kind::box ? "\\boxed" : "the whole response";
}

}  // namespace agon::env
