#include "core/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "core/error.h"

namespace agon {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\r\v\f";

// As Python's str.isspace: the separators, and the control characters that separate words or lines.
bool is_white_space(utf8proc_int32_t character) {
  if ((character >= 0x09 && character <= 0x0D) || (character >= 0x1C && character <= 0x1F) || character == 0x85)
    return true;
  const utf8proc_category_t category = character < 0 ? UTF8PROC_CATEGORY_CN : utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

// Line and paragraph separators; embeddings, overrides and isolates, which show letters in another order.
bool breaks_line_or_direction(utf8proc_int32_t character) {
  return (character >= 0x2028 && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
}

}  // namespace

Character first_character_beyond_ascii(std::string_view text) {
  Character first;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &first.code_point);
  if (size > 0) first.bytes = static_cast<std::size_t>(size);
  return first;
}

void append_character(std::string& text, std::int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && is_within_character(text[most])) --most;
  return text.substr(0, most);
}

std::string_view last_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t begin = text.size() - most;
  while (begin < text.size() && is_within_character(text[begin])) ++begin;
  return text.substr(begin);
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) - begin + 1);
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  if (separator.empty()) return {std::string(text)};
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + separator.size())
    parts.emplace_back(text.substr(begin, end - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string to_lower(std::string_view text) {
  std::string lower;
  for_each_character(text, [&](utf8proc_int32_t character, std::string_view bytes) {
    const utf8proc_int32_t small = character < 0 ? character : utf8proc_tolower(character);
    if (small == character)
      lower += bytes;
    else
      append_character(lower, small);
  });
  return lower;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for_each_character(text, [&](utf8proc_int32_t character, std::string_view bytes) {
    const bool space = is_white_space(character);
    if (!space && !inside) words.emplace_back();
    if (!space) words.back() += bytes;
    inside = !space;
  });
  return words;
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for_each_character(
      bytes, [&](utf8proc_int32_t character, std::string_view raw) { text += character < 0 ? "\xEF\xBF\xBD" : raw; });
  return text;
}

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> all;
  for_each_character(text, [&](utf8proc_int32_t, std::string_view bytes) { all.emplace_back(bytes); });
  return all;
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for_each_character(text, [&](utf8proc_int32_t character, std::string_view bytes) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    if (bytes == "\n" || bytes == "\t")
      safe += bytes;
    else if (byte < 0x20 || byte == 0x7F || (character < 0 && byte >= 0x80 && byte < 0xA0))  // C0, DEL, C1 as one byte
      safe += fmt::format("\\x{:02x}", byte);
    else if (character >= 0x80 && character < 0xA0)  // C1
      safe += fmt::format("\\x{:02x}", character);
    else if (breaks_line_or_direction(character))
      safe += fmt::format("\\u{:04x}", character);
    else
      safe += bytes;
  });
  return safe;
}

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char letter : printable(text)) {
    if (letter == '\n')
      line += "\\n";
    else if (letter == '\t')
      line += "\\t";
    else
      line += letter;
  }
  return line;
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./:@%+=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  return fmt::format("'{}'", replace_all(text, "'", "'\\''"));
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  return replace_all(text, std::vector{std::string(from)}, to);
}

std::string replace_all(std::string_view text, const std::vector<std::string>& from, std::string_view to) {
  struct Next {
    std::string_view part;
    std::size_t at;  // where it begins, at `done` or later
  };
  std::vector<Next> nexts;
  for (const std::string& part : from)
    if (!part.empty()) nexts.push_back({part, text.find(part)});
  const auto is_before = [](const Next& a, const Next& b) {
    return a.at != b.at ? a.at < b.at : a.part.size() > b.part.size();
  };
  std::string result;
  std::size_t done = 0;
  while (!nexts.empty()) {
    const Next first = *std::min_element(nexts.begin(), nexts.end(), is_before);
    if (first.at == text.npos) break;
    result.append(text.substr(done, first.at - done)).append(to);
    done = first.at + first.part.size();
    for (Next& next : nexts)
      if (next.at < done) next.at = text.find(next.part, done);
  }
  return result.append(text.substr(done));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // row[j]: distance of a's first i bytes from b's first j. above, second: the rows for i - 1 and i - 2.
  std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), second(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::swap(second, above);
    std::swap(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] != b[j]), above[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], second[j - 1] + 1);
    }
  }
  return row.back();
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  std::size_t least = name.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    if (name.size() >= candidate.size() + least) continue;
    const std::size_t distance = edit_distance(to_lower(name), to_lower(candidate));
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

std::optional<std::string> slip_of(std::string_view key, const std::vector<std::string>& known) {
  constexpr std::size_t kShort = 5;
  if (std::ranges::find(known, key) != known.end()) return {};
  const auto nearest = nearest_name(key, known);
  if (!nearest || key.size() >= kShort) return nearest;
  const auto letters_of = [](std::string_view text) {
    std::string letters = to_lower(text);
    std::ranges::sort(letters);
    return letters;
  };
  return letters_of(key) == letters_of(*nearest) ? nearest : std::nullopt;
}

std::string unknown_name_message(std::string_view what, std::string_view name,
                                 const std::vector<std::string>& candidates) {
  constexpr std::size_t kMostShown = 100;
  std::string message = fmt::format("{}: no '{}{}'.", what, printable_line(valid_utf8(name.substr(0, kMostShown))),
                                    name.size() > kMostShown ? "..." : "");
  if (const auto nearest = nearest_name(name, candidates)) message += fmt::format(" Did you mean '{}'?", *nearest);
  return message + fmt::format(" There are: {}.", fmt::join(candidates, ", "));
}

std::string read_file(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) throw Error("{}: is a folder, not a file.", path);
  if (std::filesystem::exists(path, code) && !std::filesystem::is_regular_file(path, code))
    throw Error("{}: is not a regular file, but a pipe or a device.", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read: {}. Check the path.", path, std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) throw Error("{}: reading broke off: {}.", path, std::strerror(errno));
  return std::move(content).str();
}

}  // namespace agon
