#include "env/grading/answer/plain_text.h"

#include "env/grading/answer/markup.h"
#include "env/grading/answer/plain_characters.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// Runs of blanks become one, runs of line breaks one; blanks at the ends of lines are dropped.
std::string with_single_blanks(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (const char c : text) {
    if (is_blank(c) && (kept.empty() || kept.back() == '\n')) continue;
    if (c == ' ' && kept.back() == ' ') continue;
    if (c == '\n' && kept.back() == ' ') kept.pop_back();
    if (c == '\n' && kept.empty()) continue;
    kept += c;
  }
  while (!kept.empty() && is_blank(kept.back())) kept.pop_back();
  return kept;
}

}  // namespace

std::string plain_text(std::string_view text) { return with_single_blanks(without_markup(plain_characters(text))); }

}  // namespace agon::env
