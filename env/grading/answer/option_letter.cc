#include "env/grading/answer/option_letter.h"

#include <algorithm>

#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

// The option that is this letter, if all options are letters (P, Q, R, S).
std::optional<std::size_t> lettered_option(char letter, const Options& options) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].size() != 1 || !is_letter(options[i][0])) return {};
    if ((options[i][0] | 0x20) == (letter | 0x20)) place = i;
  }
  return place;
}

}  // namespace

std::optional<std::size_t> place_of(char letter, const Options& options) {
  if (!is_letter(letter)) return {};
  const auto place = static_cast<std::size_t>((letter | 0x20) - 'a');
  const std::size_t count = options.empty() ? kLetters : std::min(options.size(), kLetters);
  return place < count ? std::optional(place) : lettered_option(letter, options);
}

std::optional<std::size_t> lone_letter(std::string_view text, const Options& options) {
  const std::size_t at = text.find_first_not_of(kLetterMarks);
  if (at == text.npos || text.find_first_not_of(kLetterMarks, at + 1) != text.npos) return {};
  return place_of(text[at], options);
}

bool names_another(std::string_view rest, const Options& options) {
  rest = behind(rest, "([)]}\"'.:* ");
  bool joined = false;
  for (const std::string_view link : {"or ", "and ", "/", "& ", ", and ", ", or ", ",", "et ", "ou ", "y ", "o ", "e ",
                                      "und ", "oder ", "\u0438 ", "\u0438\u043b\u0438 ", "\u0648", "\u0623\u0648 "})
    if (!joined && ascii_lower(rest.substr(0, 8)).starts_with(link)) {
      rest.remove_prefix(link.size());
      joined = true;
    }
  for (const std::string_view word : {"maybe ", "perhaps ", "possibly ", "even "})
    if (ascii_lower(rest.substr(0, 9)).starts_with(word)) rest.remove_prefix(word.size());
  rest = behind(rest, "([{\"'* ");
  if (ascii_lower(rest.substr(0, 7)).starts_with("option ")) rest = behind(rest.substr(7), "([{\"'* ");
  const bool word = rest.size() > 2 && (rest[0] == 'A' || rest[0] == 'I') && rest[1] == ' ' && !is_capital(rest[2]);
  return joined && !word && !rest.empty() && place_of(rest[0], options) && (is_capital(rest[0]) || rest.size() < 3) &&
         (rest.size() == 1 || !is_word_byte(rest[1])) && !(rest.size() > 1 && rest[1] == '\'');
}

}  // namespace agon::env
