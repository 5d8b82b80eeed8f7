// env/grading/answer/words.h - the words of an answer, in the form in which two answers are compared. Pure functions
// over any bytes, in linear time; nothing throws.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agon::env {

// The words of a text as two answers are compared: plain, lower case, without articles and punctuation (SQuAD). Unlike
// in SQuAD, characters that tell two answers apart stay: points, slashes, colons and hyphens between digits, the sign
// of a number, + and # after a letter (A+, C++, C#), - after a single letter (B-), and < > =.
std::vector<std::string> answer_words(std::string_view text);
// The words, joined by blanks. If no word is left ("A", "The The", "?"), the plain text in lower case.
std::string answer_form(std::string_view text);

}  // namespace agon::env
