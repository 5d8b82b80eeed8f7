#include "env/grading/answer/text.h"

#include <algorithm>

#include "core/text.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// Titles, whose period does not end a sentence.
bool is_title(std::string_view word) {
  constexpr std::string_view kTitles[] = {"Dr", "Mr", "Mrs", "Ms", "Prof", "St", "Mt"};
  return std::find(std::begin(kTitles), std::end(kTitles), word) != std::end(kTitles);
}

}  // namespace

std::string_view last_line(std::string_view plain) {
  const std::size_t line = plain.rfind('\n');
  return line == plain.npos ? plain : plain.substr(line + 1);
}

std::string_view first_sentence(std::string_view line) {
  for (std::size_t at = line.find_first_of(".!?;"); at != line.npos; at = line.find_first_of(".!?;", at + 1)) {
    const bool ends =
        at + 1 == line.size() || is_blank(line[at + 1]) || static_cast<unsigned char>(line[at + 1]) >= 0x80;
    if (ends && at > 0 && !(line[at] == '.' && is_title(word_before(line, at)))) return line.substr(0, at);
  }
  return line;
}

std::string_view without_copula(std::string_view text) {
  constexpr std::string_view kIs = "\u662f";
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  for (const std::string_view end : {"\u3067\u3059", "\u3067\u3057\u305f", "\u3067\u3042\u308b", "\u3060\u3063\u305f",
                                     "\u3060", "\uc785\ub2c8\ub2e4", "\uc774\ub2e4", "\uc774\uc5d0\uc694",
                                     "\uc608\uc694", "\uc774\uc5c8\uc2b5\ub2c8\ub2e4", "\u7684"})
    if (text.size() > end.size() && text.ends_with(end)) {
      text = text.substr(0, text.size() - end.size());
      break;
    }
  if (text.size() > kIs.size() && text.starts_with(kIs)) text = text.substr(kIs.size());
  return text;
}

std::string_view word_before(std::string_view text, std::size_t end) {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && end - begin < 16 && is_letter(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view word_from(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_not_of(" ", at), text.size());
  std::size_t end = begin;
  while (end < text.size() && end - begin < 20 && (is_word_byte(text[end]) || text[end] == '\'')) ++end;
  return text.substr(begin, end - begin);
}

bool unwrap(std::string_view& text, std::string_view open, std::string_view close) {
  text = trim(text);
  if (text.size() < open.size() + close.size() || !text.starts_with(open) || !text.ends_with(close)) return false;
  text = text.substr(open.size(), text.size() - open.size() - close.size());
  return true;
}

std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_word_byte(char c) { return is_digit(c) || is_letter(c) || static_cast<unsigned char>(c) >= 0x80; }

}  // namespace agon::env
