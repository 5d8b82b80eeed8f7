// env/grading/characters.h - tests for kinds of ASCII characters. Unlike those of the C library, they ignore the
// locale.
#pragma once

namespace agon::env {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || is_capital(c); }
inline bool is_blank(char c) { return c == ' ' || c == '\n'; }  // the only white space that plain_text leaves

}  // namespace agon::env
