// core/text.h - reads UTF-8 texts character by character, with other small text helpers that several layers use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agon {

// The first code point of a UTF-8 text and its number of bytes; -1 and one byte if the text is empty or does not begin
// with a character.
struct Character {
  std::int32_t code_point = -1;
  std::size_t bytes = 1;
};
Character first_character_beyond_ascii(std::string_view text);
inline Character first_character(std::string_view text) {
  const bool ascii = !text.empty() && static_cast<unsigned char>(text.front()) < 0x80;
  return ascii ? Character{text.front(), 1} : first_character_beyond_ascii(text);
}
void append_character(std::string& text, std::int32_t code_point);
// Whether this byte continues a character of UTF-8 rather than beginning one.
inline bool is_within_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Calls visit(code point, its bytes) for each character; code point -1 for an invalid byte.
template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Character first = first_character(text);
    visit(first.code_point, text.substr(0, first.bytes));
    text.remove_prefix(first.bytes);
  }
}

// The first, or the last, `most` bytes of a text, fewer if a UTF-8 character would be cut in two.
std::string_view cut_text(std::string_view text, std::size_t most);
std::string_view last_bytes(std::string_view text, std::size_t most);

std::string_view trim(std::string_view text);  // ASCII white space, both ends
std::vector<std::string> split(std::string_view text, std::string_view separator);
std::string to_lower(std::string_view text);                  // every letter of UTF-8 text that has a lower case
std::vector<std::string> split_words(std::string_view text);  // at Unicode white space; none is empty
std::string valid_utf8(std::string_view bytes);               // each invalid byte becomes U+FFFD
std::vector<std::string> characters(std::string_view text);   // of UTF-8, and each invalid byte
// Makes text of a policy, a guest, a task or a server safe to print: characters that control a terminal or change the
// reading direction become "\x1b", "\u202e" and the like. Line breaks and tabs stay.
std::string printable(std::string_view text);
std::string printable_line(std::string_view text);  // line breaks and tabs become "\n" and "\t" too
std::string shell_word(std::string_view text);      // one word of a shell, quoted if necessary
// Each `from` in the text becomes `to`, left to right; replaced parts are not searched again. Empty `from`: the text
// itself.
std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
// The same for any of several texts; if two begin at the same place, the longer one is taken.
std::string replace_all(std::string_view text, const std::vector<std::string>& from, std::string_view to);
// Counts bytes: deleting, adding or replacing one, or swapping two neighbours, is one edit.
std::size_t edit_distance(std::string_view a, std::string_view b);
// The candidate nearest to `name`, if near enough to be a likely slip (at most a third of its letters).
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);
// If `key` of a user's file is probably a misspelling of a known key: that key. A key of up to four letters must have
// the same letters, in another order or case; other short words are the user's own keys.
std::optional<std::string> slip_of(std::string_view key, const std::vector<std::string>& known);
// "suite: no 'chart'. Did you mean 'charts'? There are: charts, phone, shapes."
std::string unknown_name_message(std::string_view what, std::string_view name,
                                 const std::vector<std::string>& candidates);
std::string read_file(const std::string& path);  // throws Error

}  // namespace agon
