#include "agents/hub/tokenizer/pretokenize.h"

#include <utf8proc.h>

#include <algorithm>

#include "core/text.h"

namespace agon::agents {
namespace {

enum class CharClass : std::uint8_t { letter, number, newline, space, other, end };

struct Char {
  CharClass kind;
  std::size_t length;
};

struct Range {
  utf8proc_int32_t first, last;
};

// Letters and digits that Unicode 15.1 to 17 added; utf8proc 2.8 implements 15.0.
constexpr Range kNewLetters[] = {{0x1c89, 0x1c8a},   {0xa7cb, 0xa7cd},   {0xa7da, 0xa7dc},   {0x105c0, 0x105f3},
                                 {0x10d4a, 0x10d65}, {0x10d6f, 0x10d85}, {0x10ec2, 0x10ec4}, {0x11380, 0x11389},
                                 {0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113b7},
                                 {0x113d1, 0x113d1}, {0x113d3, 0x113d3}, {0x11bc0, 0x11be0}, {0x13460, 0x143fa},
                                 {0x16100, 0x1611d}, {0x16d40, 0x16d6c}, {0x18cff, 0x18cff}, {0x1e5d0, 0x1e5ed},
                                 {0x1e5f0, 0x1e5f0}, {0x2ebf0, 0x2ee5d}};
constexpr Range kNewNumbers[] = {{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9}, {0x16130, 0x16139},
                                 {0x16d70, 0x16d79}, {0x1ccf0, 0x1ccf9}, {0x1e5f1, 0x1e5fa}};

// Marks that Unicode 15.1 to 17 added.
constexpr Range kNewMarks[] = {{0x0897, 0x0897},   {0x10d69, 0x10d6d}, {0x10efc, 0x10efc}, {0x113b8, 0x113c0},
                               {0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113d0},
                               {0x113d2, 0x113d2}, {0x113e1, 0x113e2}, {0x11f5a, 0x11f5a}, {0x1611e, 0x1612f},
                               {0x1e5ee, 0x1e5ef}};

// Letters in circles and squares: alphabetic, although their category is symbol.
constexpr Range kAlphabeticSymbols[] = {{0x24b6, 0x24e9}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};

// Marks, and the parts of one letter, that are newer than Unicode 9, whose NFC the tokenizers library implements: it
// treats them as letters that are neither reordered nor composed. (tokenizers 0.23.3, found by trying all marks.)
constexpr Range kUncomposed[] = {
    {0x07fd, 0x07fd},   {0x0898, 0x089f},   {0x08ca, 0x08d3},   {0x09fe, 0x09fe},   {0x0c3c, 0x0c3c},
    {0x0d3b, 0x0d3c},   {0x0eba, 0x0eba},   {0x1715, 0x1715},   {0x1abf, 0x1ace},   {0x1df6, 0x1dfa},
    {0xa82c, 0xa82c},   {0x10d24, 0x10d27}, {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50},
    {0x10f82, 0x10f85}, {0x11070, 0x11070}, {0x1133b, 0x1133b}, {0x1145e, 0x1145e}, {0x11839, 0x1183a},
    {0x11930, 0x11930}, {0x11938, 0x11938}, {0x1193d, 0x1193e}, {0x11943, 0x11943}, {0x119e0, 0x119e0},
    {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d42, 0x11d42}, {0x11d44, 0x11d45},
    {0x11d97, 0x11d97}, {0x11f41, 0x11f42}, {0x16ff0, 0x16ff1}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136},
    {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef}};

template <std::size_t n>
bool in_ranges(const Range (&ranges)[n], utf8proc_int32_t code_point) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](Range range) { return range.first <= code_point && code_point <= range.last; });
}

bool is_white_space(utf8proc_int32_t c) {  // the White_Space property above ASCII
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
         c == 0x202f || c == 0x205f || c == 0x3000;
}

CharClass classify(utf8proc_int32_t code_point) {
  if (is_white_space(code_point)) return CharClass::space;
  const utf8proc_category_t category = utf8proc_category(code_point);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return CharClass::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return CharClass::number;
  if (category != UTF8PROC_CATEGORY_CN) return CharClass::other;
  if (in_ranges(kNewLetters, code_point)) return CharClass::letter;
  return in_ranges(kNewNumbers, code_point) ? CharClass::number : CharClass::other;
}

constexpr std::array<CharClass, 128> make_ascii_classes() {
  std::array<CharClass, 128> classes{};
  for (int c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    classes[static_cast<std::size_t>(c)] = letter                            ? CharClass::letter
                                           : c >= '0' && c <= '9'            ? CharClass::number
                                           : c == '\r' || c == '\n'          ? CharClass::newline
                                           : c == ' ' || (c >= 9 && c <= 12) ? CharClass::space
                                                                             : CharClass::other;
  }
  return classes;
}
constexpr std::array<CharClass, 128> kAsciiClasses = make_ascii_classes();

CharClass classify_any(utf8proc_int32_t code_point) {
  return code_point < 128 ? kAsciiClasses[static_cast<std::size_t>(code_point)] : classify(code_point);
}

Char char_at(std::string_view text, std::size_t start) {
  if (start >= text.size()) return {CharClass::end, 0};
  const auto byte = static_cast<unsigned char>(text[start]);
  if (byte < 128) return {kAsciiClasses[byte], 1};
  const Character next = first_character_beyond_ascii(text.substr(start));
  return {next.code_point < 0 ? CharClass::other : classify(next.code_point), next.bytes};
}

std::size_t skip(std::string_view text, std::size_t start, CharClass kind) {
  for (Char c = char_at(text, start); c.kind == kind; c = char_at(text, start)) start += c.length;
  return start;
}

// The length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at `start`, or 0. U+017F folds to s. REQUIRES: an apostrophe at `start`.
std::size_t contraction_length(std::string_view text, std::size_t start) {
  const auto lower = [&](std::size_t i) { return i < text.size() ? static_cast<char>(text[i] | 0x20) : '\0'; };
  const char a = lower(start + 1), b = lower(start + 2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  return text.substr(start + 1, 2) == "\u017f" ? 3 : 0;
}

// The end of \p{N}{1,3} at `start`.
std::size_t number_end(std::string_view text, std::size_t start) {
  std::size_t end = start;
  for (int i = 0; i < 3; ++i)
    if (const Char c = char_at(text, end); c.kind == CharClass::number) end += c.length;
  return end;
}

bool is_space(CharClass kind) { return kind == CharClass::space || kind == CharClass::newline; }

// The end of \s+(?!\S)|\s+ at `start`. REQUIRES: white space at `start`.
std::size_t plain_space_end(std::string_view text, std::size_t start) {
  std::size_t end = start, last = start;
  for (Char c = char_at(text, end); is_space(c.kind); c = char_at(text, end)) {
    last = end;
    end += c.length;
  }
  return end == text.size() || last == start ? end : last;
}

// The end of \s*[\r\n]+|\s+(?!\S)|\s+ at `start`. REQUIRES: white space at `start`.
std::size_t white_space_end(std::string_view text, std::size_t start) {
  std::size_t end = start, after_newline = 0;
  for (Char c = char_at(text, end); is_space(c.kind); c = char_at(text, end)) {
    end += c.length;
    if (c.kind == CharClass::newline) after_newline = end;
  }
  return after_newline > 0 ? after_newline : plain_space_end(text, start);
}

// The end of kGpt2Regex at `start`. Its contractions are lower case only.
std::size_t gpt2_word_end(std::string_view text, std::size_t start) {
  for (const std::string_view contraction : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.substr(start).starts_with(contraction)) return start + contraction.size();
  const std::size_t next = text[start] == ' ' ? start + 1 : start;
  const CharClass kind = char_at(text, next).kind;
  if (kind == CharClass::end || is_space(kind)) return plain_space_end(text, start);
  return skip(text, next, kind);
}

// Whether \w of a Unicode regex matches.
bool is_of_word(utf8proc_int32_t code_point) {
  if (code_point < 0) return false;
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return code_point == 0x200c || code_point == 0x200d || classify_any(code_point) == CharClass::letter ||
             in_ranges(kAlphabeticSymbols, code_point) || in_ranges(kNewNumbers, code_point) ||
             in_ranges(kNewMarks, code_point);
  }
}

// Where the last character of the text begins. REQUIRES: not empty.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && is_within_character(text[at])) --at;
  return at;
}

bool stands_alone(std::string_view before, std::string_view behind) {
  const bool left = before.empty() || !is_of_word(first_character(before.substr(last_character(before))).code_point);
  return left && (behind.empty() || !is_of_word(first_character(behind).code_point));
}

// Number of bytes of white space at the end of the text.
std::size_t space_at_end(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_space(char_at(text.substr(0, end), last_character(text.substr(0, end))).kind))
    end = last_character(text.substr(0, end));
  return text.size() - end;
}

constexpr auto kCompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr auto kDecompose = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);

int combining_class(utf8proc_int32_t code_point) { return utf8proc_get_property(code_point)->combining_class; }

// Sorts each run of combining marks by class (utf8proc's own sort is quadratic in the run's length).
void sort_marks(std::vector<utf8proc_int32_t>& code_points) {
  const auto is_mark = [](utf8proc_int32_t c) { return combining_class(c) != 0; };
  for (auto begin = code_points.begin(); begin != code_points.end();) {
    begin = std::find_if(begin, code_points.end(), is_mark);
    const auto end = std::find_if_not(begin, code_points.end(), is_mark);
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

void append_composed(std::vector<utf8proc_int32_t>& code_points, std::string& out) {
  sort_marks(code_points);
  const auto count =
      utf8proc_normalize_utf32(code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()), kCompose);
  for (utf8proc_ssize_t i = 0; i < count; ++i) append_character(out, code_points[static_cast<std::size_t>(i)]);
  code_points.clear();
}

}  // namespace

std::string_view to_nfc(std::string_view text, std::string& buffer) {
  // Below U+0300 (lead byte 0xcc) every text is its own NFC.
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xcc; })) return text;
  buffer.clear();
  std::vector<utf8proc_int32_t> code_points;
  for_each_character(text, [&](utf8proc_int32_t code_point, std::string_view bytes) {
    if (code_point < 0 || (code_point >= kUncomposed[0].first && in_ranges(kUncomposed, code_point))) {
      append_composed(code_points, buffer);
      buffer += bytes;
      return;
    }
    utf8proc_int32_t parts[32];
    const auto count = utf8proc_decompose_char(code_point, parts, 32, kDecompose, nullptr);
    code_points.insert(code_points.end(), parts, parts + count);
  });
  append_composed(code_points, buffer);
  return buffer;
}

std::size_t word_end(std::string_view text, std::size_t start, WordSplit split) {
  if (split == WordSplit::gpt2) return gpt2_word_end(text, start);
  const Char first = char_at(text, start);
  const std::size_t next = start + first.length;
  if (text[start] == '\'') {
    if (const std::size_t length = contraction_length(text, start)) return start + length;
  }
  if (first.kind == CharClass::letter) return skip(text, next, CharClass::letter);
  if (first.kind == CharClass::number) return split == WordSplit::llama3 ? number_end(text, start) : next;
  const CharClass second = char_at(text, next).kind;
  if (second == CharClass::letter && first.kind != CharClass::newline) return skip(text, next, CharClass::letter);
  if (first.kind == CharClass::other || (text[start] == ' ' && second == CharClass::other))
    return skip(text, skip(text, next, CharClass::other), CharClass::newline);
  return white_space_end(text, start);
}

std::size_t stretch_between_digits_end(std::string_view text, std::size_t start) {
  if (const Char first = char_at(text, start); first.kind == CharClass::number) return start + first.length;
  std::size_t end = start;
  for (Char c = char_at(text, end); c.kind != CharClass::number && c.kind != CharClass::end; c = char_at(text, end))
    end += c.length;
  return end;
}

const std::array<std::string, 256>& byte_symbols() {
  static const std::array<std::string, 256> symbols = [] {
    std::array<std::string, 256> result;
    int unprintable = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      append_character(result[static_cast<std::size_t>(byte)], printable ? byte : 0x100 + unprintable++);
    }
    return result;
  }();
  return symbols;
}

std::optional<std::string> bytes_of_symbols(std::string_view symbols) {
  static const std::vector<int> byte_of = [] {
    std::vector<int> result(0x200, -1);
    for (int byte = 0; byte < 256; ++byte) {
      const Character symbol = first_character(byte_symbols()[static_cast<std::size_t>(byte)]);
      result[static_cast<std::size_t>(symbol.code_point)] = byte;
    }
    return result;
  }();
  std::string bytes;
  for (std::string_view rest = symbols; !rest.empty();) {
    const auto [code_point, size] = first_character(rest);
    if (code_point < 0 || code_point >= 0x200 || byte_of[static_cast<std::size_t>(code_point)] < 0) return std::nullopt;
    bytes += static_cast<char>(byte_of[static_cast<std::size_t>(code_point)]);
    rest.remove_prefix(size);
  }
  return bytes;
}

void AddedTokens::add(AddedToken token) {
  auto& bucket = by_first_byte_[static_cast<unsigned char>(token.content.front())];
  const auto place = std::find_if(bucket.begin(), bucket.end(),
                                  [&](const AddedToken& other) { return other.content.size() < token.content.size(); });
  bucket.insert(place, std::move(token));
  any_ = true;
}

const AddedToken* AddedTokens::match(std::string_view text, bool with_special) const {
  for (const AddedToken& token : by_first_byte_[static_cast<unsigned char>(text.front())])
    if ((with_special || !token.special) && text.starts_with(token.content)) return &token;
  return nullptr;
}

void AddedTokens::split(std::string_view text, bool with_special, const std::function<void(std::string_view)>& on_text,
                        const std::function<void(std::int32_t)>& on_token) const {
  std::size_t done = 0;
  for (std::size_t i = 0; any_ && i < text.size();) {
    const AddedToken* token = match(text.substr(i), with_special);
    if (token == nullptr) {
      ++i;
      continue;
    }
    std::size_t begin = i, end = i + token->content.size();
    i = end;
    if (token->single_word && !stands_alone(text.substr(0, begin), text.substr(end))) continue;
    if (token->lstrip) begin -= space_at_end(text.substr(done, begin - done));
    while (token->rstrip && is_space(char_at(text, end).kind)) end += char_at(text, end).length;
    if (begin > done) on_text(text.substr(done, begin - done));
    on_token(token->id);
    done = i = end;
  }
  if (done < text.size()) on_text(text.substr(done));
}

}  // namespace agon::agents
