// env/grading/answer/text.h - splits a text into lines, sentences and words for the readers of answers. Pure functions
// over any bytes, in linear time; nothing throws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agon::env {

// `plain`: a plain text.
std::string_view last_line(std::string_view plain);      // that is not blank
std::string_view first_sentence(std::string_view line);  // its period left out
// "東京です。", "서울입니다", "是蓝色的": without the "it is" of Chinese, Japanese and Korean around a short answer.
std::string_view without_copula(std::string_view text);
// The letters of ASCII, sixteen at most, that end before `end` and blanks before that.
std::string_view word_before(std::string_view text, std::size_t end);
// The word from a place on, blanks before it left out; an apostrophe is part of it. At most some twenty bytes.
std::string_view word_from(std::string_view text, std::size_t at);
// Takes `open` from the front and `close` from the back, and white space around them. False: they are not both there.
bool unwrap(std::string_view& text, std::string_view open, std::string_view close);
std::string ascii_lower(std::string_view text);  // byte for byte
bool is_word_byte(char c);                       // a letter or a digit of ASCII, or part of another character

}  // namespace agon::env
