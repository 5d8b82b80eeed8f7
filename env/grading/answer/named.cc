#include "env/grading/answer/named.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/text.h"
#include "env/grading/answer/denied.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/answer/words.h"

namespace agon::env {
namespace {

// Where a text names an option.
struct Mention {
  std::size_t option, begin, end;
  bool denied = false;
};
using Mentions = std::vector<Mention>;

// --- Words ---

// The words of a text (answer_words) and where its clauses end.
class Clauses {
 public:
  explicit Clauses(std::string_view plain) {
    for (std::size_t begin = 0, at = 0; at <= plain.size(); ++at) {
      if (at < plain.size() && !parts_clauses(plain, at)) continue;
      for (std::string& word : answer_words(plain.substr(begin, at - begin))) words_.push_back(std::move(word));
      ends_.insert(words_.size());
      begin = at + 1;
    }
  }

  const std::vector<std::string>& words() const { return words_; }
  bool ends_at(std::size_t at) const { return ends_.count(at) > 0; }
  // The word at `at` if it belongs to the clause that continues there; else empty.
  std::string_view next(std::size_t at) const {
    return at < words_.size() && !ends_at(at) ? std::string_view(words_[at]) : std::string_view();
  }
  std::string_view before(std::size_t at) const {
    return at > 0 && !ends_at(at) ? std::string_view(words_[at - 1]) : std::string_view();
  }

 private:
  static bool parts_clauses(std::string_view plain, std::size_t at) {
    if (plain[at] == '\n') return true;
    const bool mark = std::string_view(",.;:!?").find(plain[at]) != std::string_view::npos;
    const char next = at + 1 < plain.size() ? plain[at + 1] : ' ';
    return mark && (next == ' ' || next == '\n' || static_cast<unsigned char>(next) >= 0x80);
  }
  std::vector<std::string> words_;
  std::set<std::size_t> ends_;
};

constexpr std::string_view kDenying[] = {"not",
                                         "no",
                                         "never",
                                         "neither",
                                         "nor",
                                         "except",
                                         "excluding",
                                         "isnt",
                                         "arent",
                                         "wasnt",
                                         "werent",
                                         "cannot",
                                         "cant",
                                         "couldnt",
                                         "doesnt",
                                         "dont",
                                         "didnt",
                                         "wont",
                                         "hasnt",
                                         "havent",
                                         "wouldnt",
                                         "shouldnt",
                                         "kein",
                                         "keine",
                                         "keinen",
                                         "keiner",
                                         "nicht",
                                         "pas",
                                         "non",
                                         "n\u00e3o",
                                         "\u043d\u0435",
                                         "geen",
                                         "niet",
                                         "inte",
                                         "ikke",
                                         "bukan",
                                         "\u0644\u064a\u0633",
                                         "\u0644\u064a\u0633\u062a",
                                         "\u043d\u0438",
                                         "nie"};
// May stand between a denier and the option that it denies.
constexpr std::string_view kFillers[] = {
    "be",   "been",     "really", "actually", "likely", "necessarily", "quite",  "exactly", "look",    "looks",
    "seem", "appear",   "think",  "believe",  "it",     "is",          "its",    "this",    "that",    "at",
    "in",   "on",       "to",     "show",     "see",    "any",         "option", "called",  "colored", "es",
    "est",  "ist",      "\u00e9", "\u00e8",   "un",     "une",         "una",    "um",      "uma",     "uno",
    "ein",  "eine",     "einen",  "der",      "das",    "le",          "la",     "el",      "il",      "een",
    "en",   "possibly", "ever",   "longer",   "call",   "say",         "means",  "jest",    "sono",    "les"};
// Deny the option before them, in languages whose verb ends the sentence.
constexpr std::string_view kDeniersBehind[] = {"नहीं", "गलत", "değil", "yanlış", "نیست", "নয়"};
// Deny the option after them, if "we" or "I" stands before them.
constexpr std::string_view kEliminates[] = {"eliminate", "exclude", "discard"};
// After "is": the option before it is not an answer.
constexpr std::string_view kWrongNames[] = {"wrong", "incorrect", "ruled", "eliminated", "excluded", "out"};
// The same after "can be".
constexpr std::string_view kDropped[] = {"ruled", "eliminated", "excluded", "rejected", "discarded", "dismissed"};
constexpr std::string_view kRightNames[] = {"right",    "correct", "true",   "it",    "answer",
                                            "possible", "one",     "option", "choice"};
// After "no", these mean that something is unknown or certain, and not that an option is denied.
constexpr std::string_view kUnknown[] = {"idea", "clue", "doubt", "question", "answer", "information", "telling"};

// "More of a green than", "more likely Berlin than": the option after "than" fits less.
bool compares_fit(const Clauses& clauses, std::size_t than) {
  for (std::size_t at = than; !clauses.before(at).empty() && than - at < 8; --at)
    if (clauses.before(at) == "more" &&
        is_among(clauses.next(at), std::initializer_list<std::string_view>{"likely", "of", "like", "probably"}))
      return true;
  return false;
}

// Does the word before `at` end a denial: "I doubt", "wrong to call", "anything but", "we can eliminate"?
bool ends_denial(const Clauses& clauses, std::size_t at) {
  const std::string_view word = clauses.before(at), next = clauses.next(at);
  const std::string_view earlier = word.empty() ? word : clauses.before(at - 1);
  if (word == "doubt")
    return !is_among(earlier, std::initializer_list<std::string_view>{"no", "without", "beyond", "a"});
  if (word == "wrong" || word == "incorrect" || word == "mistake") return next == "to";
  if (word == "but") return is_among(earlier, std::initializer_list<std::string_view>{"anything", "everything", "all"});
  if (word == "out") return is_among(earlier, std::initializer_list<std::string_view>{"rule", "cross", "strike"});
  if (!is_among(word, kEliminates)) return false;
  return is_among(earlier, std::initializer_list<std::string_view>{"i", "we"}) ||
         (!earlier.empty() && is_among(clauses.before(at - 2), std::initializer_list<std::string_view>{"i", "we"}));
}

bool is_denied_before(const Clauses& clauses, std::size_t at) {
  for (int i = 0; i < 6; ++i, --at) {
    const std::string_view word = clauses.before(at);
    const std::string_view earlier = word.empty() ? word : clauses.before(at - 1);
    if ((word == "of" && earlier == "instead") || (word == "than" && earlier == "rather")) return true;
    if (word == "than" && compares_fit(clauses, at - 1)) return true;
    if (is_among(word, kDenying) || ends_denial(clauses, at)) return true;
    if (!is_among(word, kFillers)) return false;
  }
  return false;
}

// "Bob is not the tallest.": the last word.
bool ends_as_superlative(std::string_view word) { return word == "most" || (word.size() > 4 && word.ends_with("est")); }

bool is_denied_behind(const Clauses& clauses, std::size_t at) {
  const std::string_view verb = clauses.next(at);
  if (is_among(verb, kDeniersBehind)) return true;
  if (verb == "can") return clauses.next(at + 1) == "be" && is_among(clauses.next(at + 2), kDropped);
  if (verb == "is" || verb == "was") {
    if (is_among(clauses.next(at + 1), kWrongNames)) return true;
    if (clauses.next(++at) != "not") return false;
  } else if (!is_among(verb, std::initializer_list<std::string_view>{"isnt", "wasnt", "cannot", "cant"})) {
    return false;
  }
  ++at;
  if (clauses.next(at) == "be") ++at;
  return clauses.ends_at(at) || is_among(clauses.next(at), kRightNames) || ends_as_superlative(clauses.next(at));
}

// "No idea", "no way to tell", "I cannot answer".
bool says_nothing(const Clauses& clauses, const Mention& mention) {
  if (mention.end == mention.begin + 1 && clauses.words()[mention.begin] == "cannot")
    return is_among(clauses.before(mention.begin), std::initializer_list<std::string_view>{"i", "we"});
  if (mention.end != mention.begin + 1 || clauses.words()[mention.begin] != "no") return false;
  const std::string_view next = clauses.next(mention.end);
  return is_among(next, kUnknown) || (next == "way" && is_among(clauses.next(mention.end + 1),
                                                                std::initializer_list<std::string_view>{"to", "of"}));
}

// "There is no data for Germany", "I cannot find Germany": the text knows nothing about the option.
bool is_unknown_before(const Clauses& clauses, std::size_t at) {
  const std::string_view last = clauses.before(at), earlier = last.empty() ? last : clauses.before(at - 1);
  const std::string_view first = earlier.empty() ? earlier : clauses.before(at - 2);
  if (is_among(last, std::initializer_list<std::string_view>{"for", "on", "about"})) {
    if (!is_among(earlier, std::initializer_list<std::string_view>{"data", "information", "figures", "values"}))
      return false;
    return first == "no" || first == "any" || (first == "have" && is_among(clauses.before(at - 3), kDenying));
  }
  if (!is_among(last, std::initializer_list<std::string_view>{"find", "locate", "identify"})) return false;
  const bool unable = is_among(earlier, kDenying) || (earlier == "to" && first == "unable");
  return unable && is_among(earlier == "to" ? clauses.before(at - 3) : first,
                            std::initializer_list<std::string_view>{"i", "we", "im", "am"});
}

void add_words(const Clauses& clauses, std::size_t option, const std::vector<std::string>& words, Mentions& mentions) {
  const bool letter = words.size() == 1 && words[0].size() == 1 && words[0][0] >= 'a' && words[0][0] <= 'z';
  if (words.empty() || letter) return;
  const auto& all = clauses.words();
  for (auto at = all.begin(); (at = std::search(at, all.end(), words.begin(), words.end())) != all.end(); ++at) {
    const auto begin = static_cast<std::size_t>(at - all.begin());
    const Mention mention{option, begin, begin + words.size()};
    if (says_nothing(clauses, mention) || is_unknown_before(clauses, begin)) continue;
    mentions.push_back(mention);
    mentions.back().denied = is_denied_before(clauses, begin) || is_denied_behind(clauses, mention.end);
  }
}

// "neither Paris nor London", "not Paris or London": a denial of the first denies the second.
void deny_alternatives(const Clauses& clauses, Mentions& mentions) {
  std::sort(mentions.begin(), mentions.end(), [](const Mention& a, const Mention& b) { return a.begin < b.begin; });
  std::set<std::size_t> ends;  // ends of the denied options
  for (Mention& mention : mentions) {
    const bool second = clauses.before(mention.begin) == "or" && ends.count(mention.begin - 1) > 0;
    mention.denied = mention.denied || second;
    if (mention.denied) ends.insert(mention.end);
  }
}

// "Green over dark green": the preferred option stands first, so the second is denied.
void deny_lesser(const Clauses& clauses, Mentions& mentions) {
  std::set<std::size_t> ends;
  for (const Mention& mention : mentions) ends.insert(mention.end);
  for (Mention& mention : mentions)
    mention.denied = mention.denied || (clauses.before(mention.begin) == "over" && ends.count(mention.begin - 1) > 0);
}

// --- Texts without blanks ---

bool is_hangul(std::int32_t code_point) { return code_point >= 0xAC00 && code_point < 0xD7B0; }

// Does the option's script leave no blanks between its words and their neighbours?
bool is_unparted(std::string_view option) {
  bool all = !option.empty();
  for_each_character(option, [&](std::int32_t character, std::string_view bytes) {
    all = all && (is_east_asian(character) || bytes == " ");
  });
  return all;
}

// Words of grammar, which stand in every text, and single syllables of Korean.
bool is_common(std::string_view option) {
  const Character first = first_character(option);
  return is_among(option, std::initializer_list<std::string_view>{"\u662f", "\u5426", "\u5bf9", "\u9519", "\u6709",
                                                                  "\u65e0", "\u4e0d", "\u6ca1", "\u4e00",
                                                                  "\u306f\u3044", "\u6709\u7684"}) ||
         (first.bytes == option.size() && is_hangul(first.code_point));
}

bool is_denied_in(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view left = text.substr(0, begin), right = text.substr(end);
  if (left.ends_with("不") || denies_next(left)) return true;
  for (const std::string_view denier : {"\u3067\u306f\u306a",
                                        "\u3067\u306f\u3042\u308a\u307e\u305b\u3093",
                                        "\u3058\u3083\u306a",
                                        "\u3058\u3083\u3042\u308a\u307e\u305b\u3093",
                                        "\u3067\u306a\u3044",
                                        "\u3067\u306f\u3054\u3056\u3044\u307e\u305b\u3093",
                                        "\uc774 \uc544\ub2d9",
                                        "\uac00 \uc544\ub2d9",
                                        "\uc774 \uc544\ub2c8",
                                        "\uac00 \uc544\ub2c8",
                                        "\uc740 \uc544\ub2c8",
                                        "\ub294 \uc544\ub2c8",
                                        "\u4e0d\u5bf9",
                                        "\u4e0d\u6b63\u786e",
                                        "\u662f\u9519",
                                        "\u662f\u4e0d\u5bf9",
                                        "\u662f\u4e0d\u6b63\u786e",
                                        "\u306f\u9593\u9055",
                                        "\u306f\u8aa4\u308a",
                                        "\u306f\u9055",
                                        "は不正解",
                                        "は誤っ",
                                        "은 아닙",
                                        "는 아닙",
                                        "은 틀",
                                        "는 틀",
                                        "이 틀",
                                        "가 틀",
                                        "은 오답",
                                        "는 오답",
                                        "不符合",
                                        "错误",
                                        "不是答案",
                                        "不是正确",
                                        "可以排除",
                                        "应排除",
                                        "被排除"})
    if (right.starts_with(denier)) return true;
  return false;
}

// Korean joins endings to the end of a word, and nothing to its front.
bool begins_within_word(std::string_view text, std::size_t begin) {
  if (begin < 3 || !is_hangul(first_character(text.substr(begin)).code_point)) return false;
  return is_hangul(first_character(text.substr(begin - 3)).code_point);
}

void add_text(std::string_view text, std::size_t option, std::string_view wanted, Mentions& mentions) {
  if (is_common(wanted)) return;
  for (std::size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + wanted.size()))
    if (!begins_within_word(text, at))
      mentions.push_back({option, at, at + wanted.size(), is_denied_in(text, at, at + wanted.size())});
}

// The mentions that are not part of a longer one, as the "green" of "dark green" is.
Mentions without_parts(const Mentions& mentions) {
  Mentions kept;
  std::size_t reach = 0;  // the furthest end of the kept mentions
  for (std::size_t i = 0; i < mentions.size(); ++i) {
    const Mention& one = mentions[i];
    bool part = one.end <= reach && !kept.empty() && kept.back().begin < one.begin;
    for (std::size_t j = i; j < mentions.size() && mentions[j].begin == one.begin; ++j)
      part = part || mentions[j].end > one.end;
    for (std::size_t j = i; j-- > 0 && mentions[j].begin == one.begin;) part = part || mentions[j].end > one.end;
    if (part) continue;
    reach = std::max(reach, one.end);
    kept.push_back(one);
  }
  return kept;
}

// The mentions that do not begin within an earlier or longer one, as the 京都 of 東京都 does.
Mentions without_inner(Mentions mentions) {
  std::sort(mentions.begin(), mentions.end(),
            [](const Mention& a, const Mention& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  Mentions kept;
  for (const Mention& mention : mentions)
    if (kept.empty() || mention.begin >= kept.back().end ||
        (mention.begin == kept.back().begin && mention.end == kept.back().end))
      kept.push_back(mention);
  return kept;
}

}  // namespace

bool is_east_asian(std::int32_t code_point) {
  return (code_point >= 0x2E80 && code_point < 0xA4D0) || (code_point >= 0xAC00 && code_point < 0xD7B0) ||
         (code_point >= 0xF900 && code_point < 0xFB00) || (code_point >= 0xFF00 && code_point < 0xFFF0);
}

NamedOptions named_options(std::string_view plain, const std::vector<std::string>& options) {
  const Clauses clauses(plain);
  const std::string first = fmt::format(" {} ", first_sentence(replace_all(plain, "\n", " ")));
  Mentions by_words, by_text;
  NamedOptions found;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string option = plain_text(options[i]);
    const std::vector<std::string> words = answer_words(option);
    if (words.empty() && first.find(fmt::format(" {} ", replace_all(option, "\n", " "))) != first.npos)
      found.named.insert(i);
    if (is_unparted(option))
      add_text(plain, i, option, by_text);
    else
      add_words(clauses, i, words, by_words);
  }
  deny_alternatives(clauses, by_words);
  by_words = without_parts(by_words);
  deny_lesser(clauses, by_words);
  for (const Mentions& mentions : {by_words, without_inner(by_text)})
    for (const Mention& mention : mentions) (mention.denied ? found.denied : found.named).insert(mention.option);
  for (const std::size_t one : found.named) found.denied.erase(one);
  return found;
}

}  // namespace agon::env
