// env/grading/answer/number/word.h - reads English number words: "two dogs", "minus twenty-three". Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agon::env {

// Does a text say that the count is 0: "None.", "None of the 5 bars is above 10."?
bool is_none_of_them(std::string_view plain);

// Writes a short text of number words in digits: "There are two dogs" becomes "2 dogs". It may hold only number words
// from zero to below a million, "there are" and the like before them, and at most three words of a unit after them.
// nullopt for other text: "two of them", "one half", "two or three".
std::optional<std::string> number_words_in_digits(std::string_view plain);

// The only number word of a sentence without digits, in digits: "There are three zebras in the field." "One" counts
// only after "is", "only", "exactly" and "see".
std::optional<std::string> only_number_in_words(std::string_view plain);

}  // namespace agon::env
