// env/grading/answer/plain_characters.h - the part of plain_text (env/grading/answer/plain_text.h) that handles
// Unicode.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// NFKC; digits of any script, blanks, minus signs and quotes as ASCII has them; superscripts as ^2, vulgar fractions as
// 1/2; without invisible characters. What is not UTF-8 becomes U+FFFD.
std::string plain_characters(std::string_view text);

}  // namespace agon::env
