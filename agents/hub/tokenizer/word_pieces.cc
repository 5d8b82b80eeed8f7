#include "agents/hub/tokenizer/word_pieces.h"

#include <utf8proc.h>

#include <algorithm>
#include <cassert>
#include <functional>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

constexpr std::size_t kLongestWord = 100;  // characters

using CodePoint = utf8proc_int32_t;

std::vector<CodePoint> characters_of(std::string_view text) {
  std::vector<CodePoint> characters;
  for_each_character(text, [&characters](CodePoint character, std::string_view) {
    if (character >= 0) characters.push_back(character);
  });
  return characters;
}

bool is_white(CodePoint c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || utf8proc_category(c) == UTF8PROC_CATEGORY_ZS ||
         c == 0x2028 || c == 0x2029;
}

// Control, format, private and unassigned characters and U+FFFD are dropped.
bool is_dropped(CodePoint c) {
  const utf8proc_category_t category = utf8proc_category(c);
  return c == 0 || c == 0xFFFD || (category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO) ||
         category == UTF8PROC_CATEGORY_CN;
}

bool is_punctuation(CodePoint c) {
  const bool ascii =
      (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  const utf8proc_category_t category = utf8proc_category(c);
  return ascii || (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO);
}

// Each ideograph is a word of its own.
bool is_ideograph(CodePoint c) {
  constexpr CodePoint kRanges[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                      {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (const auto& [first, last] : kRanges)
    if (c >= first && c <= last) return true;
  return false;
}

// The characters in lower case, decomposed, without combining marks.
std::vector<CodePoint> plain(const std::vector<CodePoint>& characters) {
  std::vector<CodePoint> result;
  for (const CodePoint character : characters) {
    CodePoint parts[32];
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(character, parts, std::ssize(parts), UTF8PROC_DECOMPOSE, nullptr);
    assert(count >= 1 && count <= std::ssize(parts));
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) result.push_back(utf8proc_tolower(parts[i]));
  }
  return result;
}

// Words, and punctuation and ideographs as words of one character, in order.
std::vector<std::string> words_of(std::string_view text, bool lower_case) {
  std::vector<CodePoint> characters = characters_of(text);
  std::erase_if(characters, [](CodePoint c) { return !is_white(c) && is_dropped(c); });
  if (lower_case) characters = plain(characters);
  std::vector<std::string> words;
  bool open = false;
  for (const CodePoint character : characters) {
    const bool alone = is_punctuation(character) || is_ideograph(character);
    if (is_white(character)) {
      open = false;
      continue;
    }
    if (alone || !open) words.emplace_back();
    append_character(words.back(), character);
    open = !alone;
  }
  return words;
}

}  // namespace

WordPieces::WordPieces(const std::filesystem::path& vocabulary, bool lower_case) : lower_case_(lower_case) {
  std::vector<std::string> lines = split(read_file(vocabulary.string()), "\n");
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].ends_with('\r')) lines[i].pop_back();
    if (!ids_.emplace(lines[i], static_cast<std::int64_t>(i)).second)
      throw Error("{}: line {} repeats the piece '{}'.", vocabulary.string(), i + 1, lines[i]);
  }
  unknown_ = special("[UNK]", vocabulary);
  begin_ = special("[CLS]", vocabulary);
  end_ = special("[SEP]", vocabulary);
}

std::int64_t WordPieces::special(const std::string& piece, const std::filesystem::path& vocabulary) const {
  const auto found = ids_.find(piece);
  if (found == ids_.end())
    throw Error("{}: no {} among its {} pieces. Is it the vocabulary of a BERT?", vocabulary.string(), piece,
                ids_.size());
  return found->second;
}

void WordPieces::append_pieces(std::string_view word, std::vector<std::int64_t>& ids) const {
  const auto characters =
      static_cast<std::size_t>(std::count_if(word.begin(), word.end(), std::not_fn(is_within_character)));
  if (characters > kLongestWord) return ids.push_back(unknown_);
  const std::size_t before = ids.size();
  for (std::size_t at = 0; at < word.size();) {
    std::size_t end = word.size();
    auto found = ids_.end();
    for (; end > at; --end) {
      if (end < word.size() && is_within_character(word[end])) continue;
      found = ids_.find((at > 0 ? "##" : "") + std::string(word.substr(at, end - at)));
      if (found != ids_.end()) break;
    }
    if (found == ids_.end()) {
      ids.resize(before);
      return ids.push_back(unknown_);
    }
    ids.push_back(found->second);
    at = end;
  }
}

std::vector<std::int64_t> WordPieces::encode(std::string_view text, std::size_t most) const {
  assert(most >= 2);
  std::vector<std::int64_t> ids{begin_};
  for (const std::string& word : words_of(text, lower_case_)) append_pieces(word, ids);
  if (ids.size() > most - 1) ids.resize(most - 1);
  ids.push_back(end_);
  return ids;
}

}  // namespace agon::agents
