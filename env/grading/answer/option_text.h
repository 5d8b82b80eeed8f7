// env/grading/answer/option_text.h - finds the options whose text equals a given text, from strict to lenient
// comparison. Pure functions; nothing throws for any text.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "env/grading/answer/number/number.h"

namespace agon::env {

using Options = std::vector<std::string>;  // their texts
using Places = std::set<std::size_t>;      // indices in Options

std::optional<std::size_t> only(const Places& places);  // nullopt for none or several

template <typename Same>
Places options_that(const Options& options, Same same) {
  Places places;
  for (std::size_t i = 0; i < options.size(); ++i)
    if (same(options[i])) places.insert(i);
  return places;
}

// The options that equal a text, by comparisons from strict to lenient. with_exact_text tries the text itself, without
// its last period, and without quotes or brackets around it; the first of these that an option has counts.
Places with_exact_text(std::string_view text, const Options& options);
Places with_text_in_any_case(std::string_view text, const Options& options);
Places with_number(std::string_view text, const Options& options);  // whole texts that are equal numbers
Places with_value(const Number& said, const Options& options);
Places with_words(std::string_view text, const Options& options);
Places with_spelling(std::string_view text, const Options& options);     // ignores blanks at marks, hyphens, case
Places with_number_word(std::string_view text, const Options& options);  // digits that equal an option in words

// The right sides of the options, if all are equations for the same name ("x = 3", "x = 4"); else the options.
Options without_left_sides(const Options& options);

std::string bare(std::string_view text);      // a plain text in one line
std::string words_of(std::string_view text);  // answer_words, joined by blanks

}  // namespace agon::env
