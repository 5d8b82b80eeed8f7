// env/grading/answer/markup.h - the part of plain_text (env/grading/answer/plain_text.h) that handles LaTeX, HTML and
// Markdown.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// The text that LaTeX typesets, without the marks of HTML and Markdown. REQUIRES: plain_characters made the text; marks
// in other characters are not recognised.
std::string without_markup(std::string_view text);

}  // namespace agon::env
