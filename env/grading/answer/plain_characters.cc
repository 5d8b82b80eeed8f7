#include "env/grading/answer/plain_characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/text.h"
#include "env/grading/characters.h"

namespace agon::env {
namespace {

using Character = utf8proc_int32_t;

constexpr int kMostMarks = 30;  // combining marks in a row: sorting them takes quadratic time

// The zeros of the scripts' digits; 1 to 9 follow each.
constexpr std::array<Character, 38> kZeros = {
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66,  0x0CE6,  0x0D66, 0x0DE6,
    0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80,  0x1A90,  0x1B50, 0x1BB0,
    0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0x104A0, 0x11066, 0x1E950};

std::optional<char> digit_of(Character c) {
  if (c < kZeros.front()) return {};
  const auto above = std::upper_bound(kZeros.begin(), kZeros.end(), c);
  const Character value = c - *(above - 1);
  return value < 10 ? std::optional(static_cast<char>('0' + value)) : std::nullopt;
}

// The digit or sign of a superscript; 0 for another character.
char superscript_of(Character c) {
  if (c == 0xB9) return '1';
  if (c == 0xB2 || c == 0xB3) return static_cast<char>('0' + (c - 0xB0));
  if (c == 0x2070 || (c >= 0x2074 && c <= 0x2079)) return static_cast<char>('0' + (c - 0x2070));
  return c == 0x207A ? '+' : c == 0x207B ? '-' : '\0';
}

const char* vulgar_fraction(Character c) {
  constexpr const char* kFrom2150[] = {"1/7", "1/9", "1/10", "1/3", "2/3", "1/5", "2/5", "3/5",
                                       "4/5", "1/6", "5/6",  "1/8", "3/8", "5/8", "7/8"};
  if (c >= 0x2150 && c <= 0x215E) return kFrom2150[c - 0x2150];
  return c == 0xBC ? "1/4" : c == 0xBD ? "1/2" : c == 0xBE ? "3/4" : nullptr;
}

bool is_invisible(Character c) {
  return c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xFE00 && c <= 0xFE0F) || c == 0x20E3 ||
         (c >= 0 && c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\v' && c != '\f') || c == 0x7F;
}

// Replacements of characters that NFKC does not unify, or unifies wrongly.
const char* plain_form(Character c) {
  switch (c) {
    case 0x2010:
    case 0x2011:
    case 0x2012:
    case 0x2013:
    case 0x2212:
    case 0x2796:
    case 0xFE63:
    case 0xFF0D:
      return "-";
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
    case 0x00B4:
    case 0x02BC:
      return "'";
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0x2033:
    case 0x00AB:
    case 0x00BB:
    case 0x300C:
    case 0x300D:
    case 0x300E:
    case 0x300F:
      return "\"";
    case 0x00BA:
    case 0x02DA:
    case 0x2218:
      return "\u00b0";
    case 0x2044:
    case 0x2215:
    case 0x29F8:
      return "/";
    case 0x2715:
    case 0x2716:
    case 0x2A2F:
      return "\u00d7";
    case 0x2219:
    case 0x22C5:
    case 0x2022:
      return "\u00b7";
    case 0x2217:
    case 0x204E:
      return "*";
    case 0x223C:
      return "~";
    case 0x2236:
      return ":";
    case 0x066A:
      return "%";
    case 0x066B:
    case 0x3002:
    case 0xFF61:
      return ".";
    case 0x066C:
    case 0x060C:
    case 0x3001:
      return ",";
    case 0x061B:
      return ";";
    case 0x061F:
      return "?";
    case 0x3010:
    case 0x3014:
    case 0x3016:
      return "[";
    case 0x3011:
    case 0x3015:
    case 0x3017:
      return "]";
    case 0x2028:
    case 0x2029:
    case 0x0085:
    case '\r':
    case '\v':
    case '\f':
      return "\n";
    case '\t':
      return " ";
    default:
      return nullptr;
  }
}

// Appends to `text` the replacement of a character before NFKC. `last`: the kind of the previous character; becomes the
// kind of this one.
enum class Kind { other, superscript, fraction };
void add_character(std::string& text, Character c, std::string_view bytes, Kind& last) {
  const char raised = superscript_of(c);
  if (raised) {
    if (last != Kind::superscript) text += '^';
    text += raised;
  } else if (const char* fraction = vulgar_fraction(c)) {
    if (!text.empty() && is_digit(text.back())) text += ' ';
    text += fraction;
  } else if (last == Kind::fraction && (c == 0x3C0 || c == 0x221A)) {
    text.append("\u00b7").append(bytes);  // ½π is not 1/(2π)
  } else if (const auto digit = digit_of(c)) {
    text += *digit;
  } else if (const char* form = plain_form(c)) {
    text += form;
  } else if (utf8proc_category(c) == UTF8PROC_CATEGORY_ZS) {
    text += ' ';
  } else {
    text += bytes;
  }
  last = raised ? Kind::superscript : vulgar_fraction(c) ? Kind::fraction : Kind::other;
}

std::string in_nfkc(const std::string& text) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE);
  const utf8proc_ssize_t size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                             static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  return size < 0 ? text : std::string(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
}

}  // namespace

std::string plain_characters(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  int marks = 0;
  Kind last = Kind::other;
  for_each_character(text, [&](Character c, std::string_view bytes) {
    if (c < 0) {
      kept += "\xEF\xBF\xBD";
      return;
    }
    if (is_invisible(c)) return;
    marks = utf8proc_get_property(c)->combining_class ? marks + 1 : 0;
    if (marks <= kMostMarks) add_character(kept, c, bytes, last);
  });
  return in_nfkc(kept);
}

}  // namespace agon::env
