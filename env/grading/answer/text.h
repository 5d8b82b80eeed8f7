// env/grading/answer/text.h - splits a text into lines, sentences and words for the readers of answers. Pure functions
// over any bytes, in linear time; nothing throws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agon::env {

// `plain`: a plain text.
std::string_view last_line(std::string_view plain);      // that is not blank
std::string_view first_sentence(std::string_view line);  // without its period
// "東京です。", "서울입니다", "是蓝色的": without the "it is" of Chinese, Japanese and Korean around a short answer.
std::string_view without_copula(std::string_view text);
// The ASCII letters, sixteen at most, that end at `end` or at the blanks before it.
std::string_view word_before(std::string_view text, std::size_t end);
// The word at `at` or after the blanks there; an apostrophe is part of it. At most twenty bytes.
std::string_view word_from(std::string_view text, std::size_t at);
// Removes `open` from the front, `close` from the back, and white space around them. False: one of them is missing.
bool unwrap(std::string_view& text, std::string_view open, std::string_view close);
std::string ascii_lower(std::string_view text);  // byte for byte
bool is_word_byte(char c);                       // an ASCII letter or digit, or part of a non-ASCII character

}  // namespace agon::env
