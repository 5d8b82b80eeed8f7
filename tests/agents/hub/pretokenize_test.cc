#include "agents/hub/tokenizer/pretokenize.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "core/rng.h"

using namespace agon::agents;
using Words = std::vector<std::string>;

namespace {

Words words_of(std::string_view text, WordSplit split = WordSplit::qwen2) {
  Words words;
  for (std::size_t start = 0, end = 0; start < text.size(); start = end) {
    end = word_end(text, start, split);
    words.emplace_back(text.substr(start, end - start));
  }
  return words;
}

// Splits with the regex itself, run by PCRE2.
class RegexSplit {
 public:
  explicit RegexSplit(std::string_view regex) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(regex.data()), regex.size(), PCRE2_UTF | PCRE2_UCP, &error,
                              &offset, nullptr));
    REQUIRE(code_ != nullptr);
    match_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  }
  Words operator()(std::string_view text) const {
    Words words;
    for (std::size_t start = 0; start < text.size();) {
      REQUIRE(pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), start, PCRE2_ANCHORED,
                          match_.get(), nullptr) > 0);
      const PCRE2_SIZE end = pcre2_get_ovector_pointer(match_.get())[1];
      words.emplace_back(text.substr(start, end - start));
      start = end;
    }
    return words;
  }

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> match_;
};

std::string nfc(std::string_view text) {
  std::string buffer;
  return std::string(to_nfc(text, buffer));
}

}  // namespace

TEST_CASE("words are cut as the Qwen2 regex cuts them") {
  REQUIRE(words_of("Hello world") == Words{"Hello", " world"});
  REQUIRE(words_of("a  b   ") == Words{"a", " ", " b", "   "});
  REQUIRE(words_of("12a") == Words{"1", "2", "a"});
  REQUIRE(words_of("it's THEY'LL 'tis '") == Words{"it", "'s", " THEY", "'LL", " '", "tis", " '"});
  REQUIRE(words_of("x'\u017fy 'Re") == Words{"x", "'\u017f", "y", " '", "Re"});
  REQUIRE(words_of("ok!?\n\nno") == Words{"ok", "!?\n\n", "no"});
  REQUIRE(words_of(" \n \n  go") == Words{" \n \n", " ", " go"});
  REQUIRE(words_of("\tif (x)") == Words{"\tif", " (", "x", ")"});
  REQUIRE(words_of("\nif") == Words{"\n", "if"});
  REQUIRE(words_of("\u00a0\u4f60\u597d\u3002") == Words{"\u00a0\u4f60\u597d", "\u3002"});
  REQUIRE(words_of("\xff\xc3 \xc3q") ==
          Words{"\xff\xc3", " \xc3", "q"});  // bytes that are not UTF-8 count as punctuation
}

TEST_CASE("words are those of the regex, as PCRE2 cuts random texts") {
  static const Words kPieces{"a",      "Z",      "'s",     "'LL",    "'",      "'\u017f", "7",      "\u0663",
                             "\u2167", " ",      "  ",     "\t",     "\n",     "\r\n",    "\u00a0", "\u2028",
                             "\x0b",   "!?",     "-",      "\u00e9", "\u4f60", "\u0301",  "$",      "\u3000",
                             "_",      "\u0085", "\u200b", "<",      ">"};
  const auto& [split_kind, regex] =
      GENERATE(std::pair(WordSplit::qwen2, kQwen2Regex), std::pair(WordSplit::llama3, kLlama3Regex),
               std::pair(WordSplit::gpt2, kGpt2Regex));
  const RegexSplit split(regex);
  agon::Rng rng(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = rng.between(1, 12); i > 0; --i) text += rng.pick(kPieces);
    REQUIRE(words_of(text, split_kind) == split(text));
  }
}

TEST_CASE("words are cut as Llama 3 and GPT-2 cut them, and digits as SmolLM2 does") {
  REQUIRE(words_of("in 12345 it'S", WordSplit::llama3) == Words{"in", " ", "123", "45", " it", "'S"});
  REQUIRE(words_of("in 12345 it'S it's\n\n ok", WordSplit::gpt2) ==
          Words{"in", " 12345", " it", "'", "S", " it", "'s", "\n\n", " ok"});
  REQUIRE(words_of("  \n", WordSplit::gpt2) == Words{"  \n"});
  REQUIRE(stretch_between_digits_end("ab 12", 0) == 3);
  REQUIRE(stretch_between_digits_end("ab 12", 3) == 4);
  REQUIRE(stretch_between_digits_end("\u00bd", 0) == 2);
}

TEST_CASE("letters and digits newer than the Unicode library are known") {
  REQUIRE(words_of("\U0002ebf0\U0002ebf1") == Words{"\U0002ebf0\U0002ebf1"});
  REQUIRE(words_of("\U000116d0\U000116d1") == Words{"\U000116d0", "\U000116d1"});
}

TEST_CASE("NFC composes, orders marks and keeps bytes that are no UTF-8") {
  REQUIRE(nfc("e\u0301") == "\u00e9");
  REQUIRE(nfc("a\u0307\u0323") == "\u1ea1\u0307");
  REQUIRE(nfc("\u1100\u1161\u11a8") == "\uac01");
  REQUIRE(nfc("\u0958 \u212b") == "\u0915\u093c \u00c5");  // excluded from composition; a singleton
  REQUIRE(nfc("e\xff\u0301") == "e\xff\u0301");
  REQUIRE(nfc("\xed\xa0\x80") == "\xed\xa0\x80");    // a surrogate
  REQUIRE(nfc("\u06d7\u1ac3") == "\u06d7\u1ac3");    // from Unicode 14: it is not reordered
  REQUIRE(nfc("e\u1ac3\u0301") == "e\u1ac3\u0301");  // and separates a letter from its accent
  REQUIRE(nfc("").empty());
}

TEST_CASE("every byte has a symbol of its own and symbols give the bytes back") {
  const std::set<std::string> distinct(byte_symbols().begin(), byte_symbols().end());
  REQUIRE(distinct.size() == 256);
  std::string bytes, symbols;
  for (int byte = 0; byte < 256; ++byte) {
    bytes += static_cast<char>(byte);
    symbols += byte_symbols()[static_cast<std::size_t>(byte)];
  }
  REQUIRE(bytes_of_symbols(symbols) == bytes);
  REQUIRE(byte_symbols()[' '] == "\u0120");
  REQUIRE_FALSE(bytes_of_symbols("a b"));
  REQUIRE_FALSE(bytes_of_symbols("\u4f60"));
  REQUIRE_FALSE(bytes_of_symbols("\xff"));
}

TEST_CASE("added tokens are found leftmost and longest, special ones only when asked for") {
  AddedTokens added;
  REQUIRE(added.empty());
  added.add({.content = "<a", .id = 1});
  added.add({.content = "<ab>", .id = 2, .special = true});
  added.add({.content = "<ab", .id = 3});
  const auto split = [&](std::string_view text, bool with_special) {
    std::string result;
    added.split(
        text, with_special, [&](std::string_view stretch) { result += "(" + std::string(stretch) + ")"; },
        [&](std::int32_t id) { result += std::to_string(id); });
    return result;
  };
  REQUIRE(split("x<ab><a<abc<", true) == "(x)213(c<)");
  REQUIRE(split("x<ab><a<abc<", false) == "(x)3(>)13(c<)");
  REQUIRE(split("", true).empty());
}

TEST_CASE("added tokens may take the white space beside them, or stand between words alone") {
  AddedTokens added;
  added.add({.content = "<l>", .id = 1, .lstrip = true});
  added.add({.content = "<r>", .id = 2, .rstrip = true});
  added.add({.content = "one", .id = 3, .single_word = true});
  const auto split = [&](std::string_view text) {
    std::string result;
    added.split(
        text, true, [&](std::string_view stretch) { result += "(" + std::string(stretch) + ")"; },
        [&](std::int32_t id) { result += std::to_string(id); });
    return result;
  };
  REQUIRE(split("a \u2003<l> b") == "(a)1( b)");
  REQUIRE(split("a<r> \n\u3000b") == "(a)2(b)");
  REQUIRE(split("<r> <l>") == "21");
  REQUIRE(split("one bone ones one_ (one)") == "3( bone ones one_ ()3())");
  REQUIRE(split("\u00e9one one\u0301 one") == "(\u00e9one one\u0301 )3");
}
