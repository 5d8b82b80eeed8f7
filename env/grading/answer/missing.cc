#include "env/grading/answer/missing.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"

namespace agon::env {
namespace {

constexpr std::size_t kLongestValue = 200, kFewestWords = 4;

constexpr std::string_view kRefusals[] = {"cannot be determined",
                                          "can't be determined",
                                          "could not be determined",
                                          "cannot be answered",
                                          "cannot be read",
                                          "cannot be seen",
                                          "cannot determine",
                                          "can't determine",
                                          "not possible to",
                                          "impossible to",
                                          "cannot tell",
                                          "can't tell",
                                          "unable to",
                                          "not able to",
                                          "i cannot ",
                                          "i can't ",
                                          "we cannot ",
                                          "we can't ",
                                          "does not provide",
                                          "doesn't provide",
                                          "do not provide",
                                          "does not contain",
                                          "doesn't contain",
                                          "does not include",
                                          "doesn't include",
                                          "does not show",
                                          "doesn't show",
                                          "does not specify",
                                          "doesn't specify",
                                          "does not mention",
                                          "doesn't mention",
                                          "does not list",
                                          "doesn't list",
                                          "does not give",
                                          "doesn't give",
                                          "is not specified",
                                          "is not provided",
                                          "is not shown",
                                          "is not visible",
                                          "is not available",
                                          "not enough information",
                                          "insufficient",
                                          "no information",
                                          "no data",
                                          "i don't know",
                                          "i do not know",
                                          "i'm not sure",
                                          "i am not sure",
                                          "n/a",
                                          "undetermined",
                                          "i do not have",
                                          "i don't have",
                                          "not answerable",
                                          "cannot be computed",
                                          "cannot be calculated",
                                          "enough information",
                                          "more information",
                                          "hard to read",
                                          "too blurry",
                                          "not found",
                                          "データはありません",
                                          "no hay datos",
                                          "no se puede",
                                          "no puedo",
                                          "no es posible",
                                          "nicht bestimm",
                                          "nicht möglich",
                                          "kann nicht",
                                          "keine daten",
                                          "keine angabe",
                                          "impossible de",
                                          "je ne peux pas",
                                          "ne permet pas",
                                          "não é possível",
                                          "não há dados",
                                          "não posso",
                                          "non è possibile",
                                          "невозможно",
                                          "нет данных",
                                          "не могу",
                                          "无法",
                                          "無法",
                                          "不能确定",
                                          "没有提供",
                                          "没有数据",
                                          "没有显示",
                                          "不知道",
                                          "分かりません",
                                          "わかりません",
                                          "判断できま",
                                          "判断できない",
                                          "データがありません",
                                          "알 수 없",
                                          "확인할 수 없",
                                          "데이터가 없",
                                          "لا يمكن",
                                          "لا أستطيع",
                                          "नहीं बता",
                                          "निर्धारित नहीं"};
// At the beginning of a text: no answer follows.
constexpr std::string_view kStrong[] = {"i'm unable",       "i am unable",   "as an ai",       "i can't see",
                                        "i cannot see",     "i can't view",  "i cannot view",  "i'm sorry, but i",
                                        "i'm sorry, i can", "sorry, i can",  "sorry, but i",   "i apologize",
                                        "i don't know",     "i do not know", "not answerable", "i can't answer",
                                        "i cannot answer",  "i can't help",  "i cannot help"};
// As the value of a phrase, these mean that there is no answer.
constexpr std::string_view kNoAnswer[] = {"unknown", "none",       "n/a",           "not available", "not given",
                                          "unclear", "not stated", "not specified", "not provided",  "undefined"};
// A sentence with one of these says more.
constexpr std::string_view kTurns[] = {"but ",      "however", "estimate", "approximately", "roughly", "although ",
                                       ", though ", "while ",  "unless ",  " so ",          " ≈ ",     "但",
                                       "不过",      " aber ",  " pero ",   " mais ",        " mas ",   " но "};
// Beginnings of sentences after a refusal that do not take it back.
constexpr std::string_view kOnly[] = {"we only ", "i only ", "it only ", "the only ", "only ", "it shows ", "please "};
constexpr std::string_view kHanging[] = {"the",  "a",    "an",   "is",    "are",      "of",       "to",    "by",
                                         "and",  "or",   "with", "for",   "in",       "then",     "from",  "as",
                                         "that", "than", "we",   "which", "equals",   "if",       "when",  "therefore",
                                         "so",   "per",  "have", "after", "before",   "at",       "on",    "need",
                                         "how",  "draw", "thus", "add",   "subtract", "multiply", "divide"};

// The end of the sentence that continues at `at`, after its mark; ';' does not end one.
std::size_t end_of_sentence(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\n') return at + 1;
    const bool last = at + 1 == text.size();
    if ((text[at] == '.' || text[at] == '!' || text[at] == '?') &&
        (last || text[at + 1] == ' ' || text[at + 1] == '\n' || static_cast<unsigned char>(text[at + 1]) >= 0x80))
      return at + 1;
  }
  return text.size();
}

std::size_t last_refusal(std::string_view lower) {
  std::size_t last = lower.npos;
  for (const std::string_view words : kRefusals)
    if (const std::size_t at = lower.rfind(words); at != lower.npos && (last == lower.npos || at > last)) last = at;
  return last;
}

// --- A last clause that refuses ---

// Ends of the clause before the last one.
constexpr std::string_view kBreaks[] = {". ", "; ", "\n", ", ", " so ", " but ", " and ", "\u3002", ".", "\uff0c"};
// In the last clause, these mean that there is no answer.
constexpr std::string_view kCannot[] = {"cannot determine",
                                        "can't determine",
                                        "cannot be determined",
                                        "can't be determined",
                                        "could not determine",
                                        "cannot tell",
                                        "can't tell",
                                        "cannot say",
                                        "can't say",
                                        "cannot answer",
                                        "can't answer",
                                        "cannot be answered",
                                        "can't be answered",
                                        "cannot be calculated",
                                        "can't be calculated",
                                        "cannot be computed",
                                        "cannot calculate",
                                        "can't calculate",
                                        "unable to determine",
                                        "unable to answer",
                                        "not possible to determine",
                                        "impossible to determine",
                                        "无法确定",
                                        "无法回答",
                                        "nicht bestimm",
                                        "kann ich nicht beantworten",
                                        "impossible de déterminer",
                                        "no se puede determinar",
                                        "no puedo determinar",
                                        "невозможно определить"};
// A clause that begins with one of these and ends with one of kAbsent gives no answer.
constexpr std::string_view kAsked[] = {"the value", "the data", "the total", "the answer", "the number", "the figure"};
constexpr std::string_view kAbsent[] = {"not given",     "not shown",   "not provided", "not available", "not stated",
                                        "not specified", "not visible", "not listed",   "missing"};
// A clause with one of these limits an answer.
constexpr std::string_view kLimits[] = {" more", "exact", "certain", " sure", "other", "behind", "whether", "precise"};

std::string_view last_clause(std::string_view lower) {
  std::size_t begin = 0;
  for (const std::string_view mark : kBreaks)
    if (const std::size_t at = lower.rfind(mark); at != lower.npos) begin = std::max(begin, at + mark.size());
  return lower.substr(begin);
}

}  // namespace

bool refuses(std::string_view plain) {
  const std::string lower = to_lower(plain);
  const std::string_view text = lower;
  if (starts_with_any(text, kStrong) && !contains_any(text.substr(std::min<std::size_t>(text.size(), 16)), kTurns))
    return true;
  const std::size_t at = last_refusal(text);
  if (at == text.npos) return false;
  const std::size_t mark = at > 0 ? text.find_last_of(".!?\n", at - 1) : text.npos;
  const std::size_t begin = mark == text.npos ? 0 : mark + 1, end = end_of_sentence(text, at);
  const bool first = trim(text.substr(0, begin)).empty() || !has_digit(text.substr(0, begin));
  const std::string_view rest = behind(text.substr(end), " \n");
  const bool last = !has_digit(rest) || starts_with_any(rest, kOnly);
  const std::string_view sentence = text.substr(begin, end - begin);
  const std::string_view behind_refusal = sentence.substr(at - begin);
  const bool sorry = sentence.find("sorry") != sentence.npos;
  const bool turns = contains_any(sorry ? behind_refusal : sentence, kTurns);
  return first && last && !turns;
}

bool refuses_number(std::string_view plain) {
  const std::string lower = to_lower(plain);
  const std::string_view text = std::string_view(lower).substr(0, lower.find_last_not_of(" .!\n") + 1);
  const std::string_view clause = last_clause(text);
  if (has_digit(clause) || contains_any(clause, kLimits)) return false;
  return contains_any(clause, kCannot) || (starts_with_any(clause, kAsked) && ends_with_any(clause, kAbsent));
}

bool refuses_first(std::string_view value) {
  const std::string lower = to_lower(value.substr(0, std::min(value.size(), kLongestValue)));
  const std::string_view said = behind(lower, " \"'*([");
  const auto begins = [&](std::string_view words) {
    return said.starts_with(words) && (said.size() == words.size() || !is_word_byte(said[words.size()]));
  };
  if (std::any_of(std::begin(kNoAnswer), std::end(kNoAnswer), begins)) return true;
  const std::size_t at = last_refusal(said);
  return at != said.npos && !has_digit(said.substr(0, at)) && !contains_any(said.substr(at), kTurns);
}

bool breaks_off(std::string_view plain) {
  const std::string_view text = trim(plain);
  if (text.empty() || std::count(text.begin(), text.end(), ' ') + 1 < static_cast<std::ptrdiff_t>(kFewestWords))
    return false;
  const char last = text.back(), before = text[text.size() - 2];
  if (last == ':') return true;
  if (std::string_view("+-*/=(").find(last) != std::string_view::npos)
    return before == ' ' || last == '=' || last == '(';
  if (text.ends_with(" \u00d7") || text.ends_with(" \u00f7")) return true;
  const std::size_t blank = text.find_last_of(" \n");
  return is_among(ascii_lower(text.substr(blank + 1)), kHanging);
}

}  // namespace agon::env
