#include "env/grading/rules/answer_rule.h"

#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "core/json_parse.h"
#include "core/text.h"

namespace agon::env {

AnswerReading not_read(std::string fault) {
  AnswerReading reading;
  reading.fault = std::move(fault);
  return reading;
}

void AnswerRule::throw_bad_gold(const Json& gold, const std::string& wanted) const {
  throw Error("grader {}: the gold answer {} is not {}.", grader, printed(gold), wanted);
}

std::vector<std::string> AnswerRule::gold_texts(const Json& gold) const {
  const Json several = gold.is_array() ? gold : Json::array({gold});
  std::vector<std::string> texts;
  for (const Json& one : several) {
    if (!one.is_string() && !one.is_number()) throw_bad_gold(gold, "a text, a number or a list of them");
    texts.push_back(text_of(one));
    if (trim(texts.back()).empty()) throw_bad_gold(gold, "a text with something in it");
  }
  if (texts.empty()) throw_bad_gold(gold, "a text, a number or a list of them");
  return texts;
}

std::string shown_answer(std::string_view text) { return shown_text(text, 120); }

}  // namespace agon::env
