// env/grading/answer/markup.h - the part of plain_text (env/grading/answer/plain_text.h) that handles LaTeX, HTML and
// Markdown.
#pragma once

#include <string>
#include <string_view>

namespace agon::env {

// LaTeX as the text that it sets, without HTML's and Markdown's marks. REQUIRES: plain_characters, for what is written
// in other characters is not seen.
std::string without_markup(std::string_view text);

}  // namespace agon::env
