// env/grading/answer/number/word.h - English number words: "two dogs", "minus twenty-three". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agon::env {

// "None.", "None of the 5 bars is above 10.": the count is 0.
bool is_none_of_them(std::string_view plain);

// A short text that is nothing but number words from zero to below a million, with "there are" and the like before
// them and at most three words of a unit behind them: the same in digits ("2 dogs"). Nothing for other text: "two of
// them", "one half", "two or three".
std::optional<std::string> number_words_in_digits(std::string_view plain);

// The only number that a sentence without digits holds in words, in digits: "There are three zebras in the field."
// "One" counts behind "is", "only", "exactly" and "see" alone.
std::optional<std::string> only_number_in_words(std::string_view plain);

}  // namespace agon::env
