#include "env/grading/published_rules.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.h"
#include "env/grading/single_rules.h"

namespace agon::env {
namespace {

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// The end of the letters and digits (Python's \w; the underscore is gone by then) from `at` on; `at` if there are none.
std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character next = first_character(text.substr(at));
    if (next.code_point < 0) return at;
    const utf8proc_category_t category = utf8proc_category(next.code_point);
    const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    const bool number = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
    if (!letter && !number) return at;
    at += next.bytes;
  }
  return at;
}

std::string without_articles(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = word_end(text, at);
    const std::string_view word = text.substr(at, end - at);
    if (word == "a" || word == "an" || word == "the")
      kept += ' ';
    else
      kept += end > at ? word : text.substr(at, 1);
    at = std::max(end, at + 1);
  }
  return kept;
}

std::vector<std::string> answer_tokens(std::string_view text) {
  std::string bare = to_lower(text);
  std::erase_if(bare, is_punctuation);
  return split_words(without_articles(bare));
}

// Is it a full-width form of an ASCII sign, or Chinese punctuation?
bool is_wide_punctuation(utf8proc_int32_t c) {
  return (c >= 0x3000 && c <= 0x3011) || (c >= 0x3014 && c <= 0x301f) || (c >= 0x2018 && c <= 0x201f) || c == 0x2013 ||
         c == 0x2014 || c == 0x2026 || (c >= 0xff01 && c <= 0xff0f) || (c >= 0xff1a && c <= 0xff20) ||
         (c >= 0xff3b && c <= 0xff40) || (c >= 0xff5b && c <= 0xff65);
}
bool is_chinese(utf8proc_int32_t c) { return c >= 0x4e00 && c <= 0x9fff; }

bool has_chinese(std::string_view text) {
  bool found = false;
  for_each_character(text,
                     [&](utf8proc_int32_t character, std::string_view) { found = found || is_chinese(character); });
  return found;
}

// MAT-Coding's additions: drops full-width punctuation, and puts blanks between characters if there are Chinese ones.
void prepare_for_coding(std::string& answer, std::string& gold) {
  const bool spaced = has_chinese(answer) || has_chinese(gold);
  for (std::string* text : {&answer, &gold}) {
    std::string kept;
    for_each_character(*text, [&](utf8proc_int32_t character, std::string_view bytes) {
      if (is_wide_punctuation(character)) return;
      kept += bytes;
      if (spaced) kept += ' ';
    });
    *text = std::move(kept);
  }
}

}  // namespace

std::string normalize_answer(std::string_view text) {
  std::string normal;
  for (const std::string& token : answer_tokens(text)) {
    if (!normal.empty()) normal += ' ';
    normal += token;
  }
  return normal;
}

bool normalized_match(std::string_view answer, std::string_view gold) {
  return normalize_answer(answer) == normalize_answer(gold);
}

AnswerScore score_answer(std::string_view answer, const std::vector<std::string>& golds, ScoreRule rule) {
  AnswerScore best;
  for (const std::string& gold : golds) {
    std::string ours(answer), theirs = gold;
    if (rule == ScoreRule::mat_coding) prepare_for_coding(ours, theirs);
    const std::string normal = normalize_answer(ours);
    const bool same =
        normal.empty() ? exact_match(ours, theirs) && !trim(ours).empty() : normal == normalize_answer(theirs);
    best.exact = best.exact || same;
    best.f1 = std::max(best.f1, token_f1(ours, theirs, Overlap::set));
  }
  if (best.exact) best.f1 = 1;
  return best;
}

double token_f1(std::string_view answer, std::string_view gold, Overlap overlap) {
  const std::vector<std::string> ours = answer_tokens(answer), theirs = answer_tokens(gold);
  std::map<std::string, std::size_t> counts;
  for (const std::string& token : theirs) overlap == Overlap::set ? counts[token] = 1 : ++counts[token];
  double common = 0;
  for (const std::string& token : ours)
    if (const auto found = counts.find(token); found != counts.end() && found->second > 0) {
      --found->second;
      ++common;
    }
  return common > 0 ? 2 * common / static_cast<double>(ours.size() + theirs.size()) : 0;
}

}  // namespace agon::env
