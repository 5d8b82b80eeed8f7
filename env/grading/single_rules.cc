#include "env/grading/single_rules.h"

#include "core/text.h"
#include "env/grading/answer/number/meant.h"
#include "env/grading/answer/number/text.h"
#include "env/grading/answer/part.h"
#include "env/grading/answer/plain_text.h"
#include "env/protocol.h"

namespace agon::env {

bool exact_match(std::string_view answer, std::string_view gold) { return trim(answer) == trim(gold); }

std::optional<double> parse_number(std::string_view text) {
  const auto boxed = last_boxed(text);
  const auto number = parse_plain_number(plain_text(boxed ? boxed->of(text) : text));
  return number ? std::optional(number->value) : std::nullopt;
}

bool number_match(std::string_view answer, std::string_view gold, const std::optional<Tolerance>& tolerance) {
  const auto ours = read_number(answer_part(answer).text), theirs = read_number(answer_part(gold).text);
  return ours && theirs && equal_numbers(*ours, *theirs, tolerance);
}

}  // namespace agon::env
