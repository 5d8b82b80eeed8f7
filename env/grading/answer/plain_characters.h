// env/grading/answer/plain_characters.h - the part of plain_text (env/grading/answer/plain_text.h) that handles
// Unicode.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// The text in NFKC, with digits of any script, blanks, minus signs and quotes in ASCII, superscripts as ^2, vulgar
// fractions as 1/2, and without invisible characters. Invalid UTF-8 becomes U+FFFD.
std::string plain_characters(std::string_view text);

}  // namespace agon::env
