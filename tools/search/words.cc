#include "tools/search/words.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace agon::tools {
namespace {

using Character = utf8proc_int32_t;

constexpr std::size_t kLongestRun = 4096;  // bytes that are folded or split into words at a time

// Kinds of scripts: how their words are found (by spaces or by a dictionary), and which parts of a word are also words.
enum class Kind { spaced, hangul, katakana, han, hiragana, southeast };

struct Range {
  Character first, last;
  Kind kind;
};
constexpr Range kRanges[] = {
    {0x0E00, 0x0EFF, Kind::southeast},                                                                      // Thai, Lao
    {0x1000, 0x109F, Kind::southeast},                                                                      // Myanmar
    {0x1780, 0x17FF, Kind::southeast},                                                                      // Khmer
    {0x2E80, 0x2FDF, Kind::han},       {0x3005, 0x3007, Kind::han},      {0x3040, 0x309F, Kind::hiragana},  // Hiragana
    {0x30A0, 0x30FF, Kind::katakana},  {0x31F0, 0x31FF, Kind::katakana}, {0x3400, 0x4DBF, Kind::han},
    {0x4E00, 0x9FFF, Kind::han},       {0xAC00, 0xD7A3, Kind::hangul},   {0xF900, 0xFAFF, Kind::han},
    {0xFF66, 0xFF9D, Kind::katakana},  {0x20000, 0x3FFFF, Kind::han},
};

Kind kind_of(Character character) {
  if (character < kRanges[0].first) return Kind::spaced;
  for (const Range& range : kRanges)
    if (character <= range.last) return character >= range.first ? range.kind : Kind::spaced;
  return Kind::spaced;
}

bool needs_dictionary(Kind kind) { return kind != Kind::spaced && kind != Kind::hangul; }

// Letters, digits and marks, invisible characters inside words, and private-use characters.
bool is_word_character(Character character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
    case UTF8PROC_CATEGORY_CO:
      return true;
    case UTF8PROC_CATEGORY_CF:
      return character == 0x00AD || (character >= 0x200C && character <= 0x200F) || character == 0x2060;
    default:
      return false;
  }
}

// Scripts whose marks are accents or vowel points, which writers may omit: Latin, Greek, Cyrillic, Hebrew, Arabic,
// Syriac. In other scripts a mark is a letter of its own.
bool takes_accents(Character base) {
  return base < 0x0780 || (base >= 0x08A0 && base <= 0x08FF) || (base >= 0x1D00 && base <= 0x1FFF) ||
         (base >= 0x2C60 && base <= 0x2C7F) || (base >= 0xA640 && base <= 0xA69F) ||
         (base >= 0xA720 && base <= 0xA7FF) || (base >= 0xAB30 && base <= 0xAB6F);
}

struct Folding {
  Character from;
  std::array<Character, 2> to;  // 0: nothing
};
// Characters that Unicode does not decompose, but that people often write as others. Sorted by `from`.
constexpr Folding kFoldings[] = {
    {0x00E6, {'a', 'e'}},  {0x00F0, {'d', 0}}, {0x00F8, {'o', 0}},    {0x00FE, {'t', 'h'}},  {0x0111, {'d', 0}},
    {0x0127, {'h', 0}},    {0x0131, {'i', 0}}, {0x0142, {'l', 0}},    {0x0153, {'o', 'e'}},  {0x0167, {'t', 0}},
    {0x0629, {0x0647, 0}}, {0x0640, {0, 0}},   {0x0649, {0x064A, 0}}, {0x06A9, {0x0643, 0}}, {0x06CC, {0x064A, 0}},
};

void append_folded(std::vector<Character>& word, Character character) {
  if (character >= 0x0660 && character <= 0x0669) return word.push_back('0' + character - 0x0660);  // Arabic digits
  if (character >= 0x06F0 && character <= 0x06F9) return word.push_back('0' + character - 0x06F0);
  const auto* found = std::lower_bound(std::begin(kFoldings), std::end(kFoldings), character,
                                       [](const Folding& folding, Character one) { return folding.from < one; });
  if (found == std::end(kFoldings) || found->from != character) return word.push_back(character);
  for (const Character to : found->to)
    if (to != 0) word.push_back(to);
}

bool is_mark(Character character) {
  const utf8proc_category_t category = utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

// Hindi: a nasal before another consonant is written as a letter and a virama, or as an anusvara.
void fold_nasals(std::vector<Character>& word) {
  constexpr Character kNasals[] = {0x0919, 0x091E, 0x0923, 0x0928, 0x092E}, kVirama = 0x094D, kAnusvara = 0x0902;
  const auto is_nasal = [&](Character one) {
    return std::find(std::begin(kNasals), std::end(kNasals), one) != std::end(kNasals);
  };
  for (std::size_t i = 0; i + 2 < word.size(); ++i) {
    const bool consonant = word[i + 2] >= 0x0915 && word[i + 2] <= 0x092D && !is_nasal(word[i + 2]);
    if (!is_nasal(word[i]) || word[i + 1] != kVirama || !consonant) continue;
    word[i] = kAnusvara;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

constexpr Character kNukta = 0x093C;  // the dot under a Devanagari letter, which writers may also omit

// Sets `word` to the text in the form that searches compare. REQUIRES: valid UTF-8.
void fold(std::string_view text, std::vector<Character>& scratch, std::vector<Character>& word) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                                                           UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  scratch.resize(std::max(scratch.size(), 2 * text.size() + 8));
  utf8proc_ssize_t count =
      utf8proc_decompose(bytes, size, scratch.data(), static_cast<utf8proc_ssize_t>(scratch.size()), kOptions);
  if (count > static_cast<utf8proc_ssize_t>(scratch.size())) {
    scratch.resize(static_cast<std::size_t>(count));
    count = utf8proc_decompose(bytes, size, scratch.data(), count, kOptions);
  }
  word.clear();
  bool accents = true;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const Character character = scratch[static_cast<std::size_t>(i)];
    const bool mark = character >= 0x0300 && is_mark(character);
    if (!mark) accents = takes_accents(character);
    if (!(mark && accents) && character != kNukta) append_folded(word, character);
  }
  fold_nasals(word);
  const auto composed = utf8proc_normalize_utf32(word.data(), static_cast<utf8proc_ssize_t>(word.size()),
                                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  word.resize(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(0, composed)));
}

void append_utf8(std::string& text, std::span<const Character> characters) {
  for (const Character character : characters) append_character(text, character);
}

constexpr char kSeparator = 0, kBeyondAscii = 1;
// For each byte: the lower-case letter or digit, kSeparator, or kBeyondAscii.
constexpr std::array<char, 256> kBytes = [] {
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto letter = static_cast<char>(i);
    if (i >= 0x80)
      table[i] = kBeyondAscii;
    else if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))
      table[i] = letter;
    else if (letter >= 'A' && letter <= 'Z')
      table[i] = static_cast<char>(letter - 'A' + 'a');
  }
  return table;
}();

char class_of(char byte) { return kBytes[static_cast<unsigned char>(byte)]; }

// A text in ICU's form.
struct Source {
  UText text = UTEXT_INITIALIZER;
  Source(std::string_view bytes, UErrorCode& code) {
    utext_openUTF8(&text, bytes.data(), static_cast<std::int64_t>(bytes.size()), &code);
  }
  ~Source() { utext_close(&text); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
};

struct CloseBreaks {
  void operator()(UBreakIterator* breaks) const { ubrk_close(breaks); }
};

}  // namespace

struct Words::Implementation {
  // A part [begin, end) of the text that has only word characters.
  struct Run {
    std::size_t begin = 0, end = 0;
    bool dictionary = false;
  };

  void visit_with(Visit visit, void* context) {
    visit_ = visit;
    context_ = context;
  }

  // The run that continues at `at`; [begin, at) of it is ASCII.
  static Run run_from(std::string_view text, std::size_t begin, std::size_t at) {
    Run run{begin, at, false};
    while (run.end < text.size() && run.end - begin < kLongestRun) {
      const char letter = class_of(text[run.end]);
      if (letter == kSeparator) break;
      if (letter != kBeyondAscii) {
        ++run.end;
        continue;
      }
      const auto [character, size] = first_character_beyond_ascii(text.substr(run.end));
      if (character < 0 || !is_word_character(character)) break;
      run.dictionary = run.dictionary || needs_dictionary(kind_of(character));
      run.end += size;
    }
    return run;
  }

  bool visit_run(std::string_view text, const Run& run) {
    return run.dictionary ? visit_parts(text, run) : visit_word(text, run.begin, run.end);
  }

  bool visit_parts(std::string_view text, const Run& run) {
    UErrorCode code = U_ZERO_ERROR;
    open_breaks(code);
    Source source(text.substr(run.begin, run.end - run.begin), code);
    ubrk_setUText(breaks_.get(), &source.text, &code);
    require(code);
    std::size_t begin = run.begin;
    for (std::int32_t at = 0; (at = ubrk_next(breaks_.get())) != UBRK_DONE;) {
      const std::size_t end = run.begin + static_cast<std::size_t>(at);
      if (!visit_word(text, begin, end)) return false;
      begin = end;
    }
    return true;
  }

  bool visit_word(std::string_view text, std::size_t begin, std::size_t end) {
    fold(text.substr(begin, end - begin), scratch_, folded_);
    if (folded_.empty()) return true;
    const std::span<const Character> word(folded_);
    if (!emit(word, begin, end)) return false;
    for (std::size_t i = 0; i < word.size() && word.size() > 1; ++i) {
      const Kind kind = kind_of(word[i]);
      const bool single = kind == Kind::han;
      const bool joined = kind == Kind::hangul || kind == Kind::katakana || kind == Kind::southeast;
      const bool couple = joined && word.size() > 2 && i + 1 < word.size() && kind_of(word[i + 1]) == kind;
      if ((single || couple) && !emit(word.subspan(i, single ? 1 : 2), begin, end)) return false;
    }
    return true;
  }

  bool emit(std::span<const Character> word, std::size_t begin, std::size_t end) {
    buffer_.clear();
    append_utf8(buffer_, word);
    return visit_(context_, buffer_, begin, end);
  }

  void open_breaks(UErrorCode& code) {
    if (breaks_) return;
    breaks_.reset(ubrk_open(UBRK_WORD, "", nullptr, 0, &code));
    require(code);
  }

  static void require(UErrorCode code) {
    if (U_FAILURE(code)) throw Error("search: ICU finds no words: {}. Is its data installed?", u_errorName(code));
  }

  std::unique_ptr<UBreakIterator, CloseBreaks> breaks_;  // opened at the first text that needs it
  std::vector<Character> scratch_, folded_;
  std::string buffer_;
  Visit visit_ = nullptr;
  void* context_ = nullptr;
};

Words::Words() : implementation_(std::make_unique<Implementation>()) {}
Words::~Words() = default;

bool Words::for_each(std::string_view text, Visit visit, void* context) {
  implementation_->visit_with(visit, context);
  std::string& word = implementation_->buffer_;
  for (std::size_t at = 0;;) {
    while (at < text.size() && class_of(text[at]) == kSeparator) ++at;
    if (at == text.size()) return true;
    const std::size_t begin = at;
    word.clear();
    for (char letter; at < text.size() && (letter = class_of(text[at])) > kBeyondAscii; ++at) word += letter;
    if (at == text.size() || class_of(text[at]) == kSeparator) {
      if (!visit(context, word, begin, at)) return false;
      continue;
    }
    const Implementation::Run run = Implementation::run_from(text, begin, at);
    if (run.end > begin && !implementation_->visit_run(text, run)) return false;
    at = run.end > begin ? run.end : begin + first_character(text.substr(begin)).bytes;
  }
}

}  // namespace agon::tools
