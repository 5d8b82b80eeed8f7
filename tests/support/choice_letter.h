// tests/support/choice_letter.h - finds the option that an answer names and returns its letter; empty if it names none
// of A to Z.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/grading/answer/choice.h"
#include "env/grading/answer/part.h"

namespace agon::env {

inline std::optional<char> choice_letter(std::string_view answer, const std::vector<std::string>& options) {
  const auto place = read_choice(answer_part(answer).text, without_labels(options));
  return place && *place < 26 ? std::optional(static_cast<char>('A' + static_cast<char>(*place))) : std::nullopt;
}

}  // namespace agon::env
