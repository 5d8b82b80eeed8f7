#include "env/grading/rules/text_rule.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/text.h"
#include "env/grading/answer/phrases.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/answer/reason.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/answer/words.h"

namespace agon::env {
namespace {

// How the only sentence of a text begins if it says what its subject is, and the verbs that say it.
constexpr std::string_view kSubjects[] = {"the ",     "this ",      "that ", "it ",  "it's ", "that's ",
                                          "i think ", "i believe ", "der ",  "die ", "das ",  "es ist ",
                                          "la ",      "el ",        "le ",   "il ",  "o ",    "a "};
constexpr std::string_view kCopulas[] = {" is ",  "it's ", "that's ", " are ", " was ", " were ", " appears to be ",
                                         " ist ", " es ",  " est ",   " è ",   " é "};
// With these in its subject, the sentence gives no answer.
constexpr std::string_view kDoubts[] = {"not",   "no",       "never",   "false",   "wrong",     "incorrect",
                                        "least", "unlikely", "doubt",   "whether", "if",        "thought",
                                        "other", "non",      "não",     "nicht",   "kein",      "keine",
                                        "isn't", "don't",    "doesn't", "user",    "impossible"};

class TextRule : public AnswerRule {
 public:
  void take_gold(const Json& gold) override { golds_ = gold_texts(gold); }

  AnswerReading read(const AnswerPart& given) const override {
    const AnswerPart part = without_object(given);
    if (const std::string corrected = corrected_text(part.text); !corrected.empty()) {
      AnswerReading reading;
      reading.shown = corrected;
      reading.forms = {corrected};
      return reading;
    }
    return read_uncorrected(part);
  }
  RuleScore compare(const AnswerReading& answer) const override {
    RuleScore best;
    for (const std::string& gold : golds_)
      if (const double reward = worth(answer, gold); reward >= best.reward) {
        const std::string read = form_like(answer, gold).value_or(answer.shown);
        best = {reward, fmt::format("{} {} {}", shown_answer(read), verdict(reward), shown_answer(gold)), read};
      }
    return best;
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return form(a.forms.front()) == form(b.forms.front());
  }

 protected:
  virtual std::string form(std::string_view text) const { return answer_form(text); }
  virtual double worth(const AnswerReading& answer, const std::string& gold) const { return equals(answer, gold); }
  bool equals(const AnswerReading& answer, const std::string& gold) const {
    return form_like(answer, gold).has_value();
  }
  // The first of the answer's forms that equals gold.
  std::optional<std::string> form_like(const AnswerReading& answer, const std::string& gold) const {
    const std::string wanted = form(gold);
    const auto found = std::find_if(answer.forms.begin(), answer.forms.end(),
                                    [&](const std::string& one) { return !wanted.empty() && form(one) == wanted; });
    if (found != answer.forms.end()) return *found;
    return answer.raw == trim(gold) ? std::optional(answer.raw) : std::nullopt;
  }

 private:
  static AnswerReading read_uncorrected(const AnswerPart& part) {
    AnswerReading reading;
    reading.raw = part.raw;
    const std::vector<Phrase> phrases = answer_phrases(part.text);
    reading.forms.push_back(phrases.empty() ? part.text : phrases.front().sentence);
    if (!phrases.empty()) {
      reading.forms.push_back(phrases.front().value);
      reading.forms.push_back(without_period(phrases.front().value));
      reading.forms.push_back(part.text);
    }
    if (part.kind == AnswerPart::Kind::whole) reading.forms.emplace_back(last_line(part.text));
    std::string word = leading_verdict(phrases.empty() ? std::string_view(part.text) : phrases.front().value);
    if (word.empty() && phrases.empty()) word = leading_verdict(last_line(part.text));
    if (word.empty() && phrases.empty()) word = closing_verdict(part.text);
    if (!word.empty()) reading.forms.push_back(word);
    const std::string bare(before_reason(without_frame(reading.forms.front())));
    if (bare.size() < reading.forms.front().size()) reading.forms.push_back(bare);
    for (const std::string& form : {reading.forms.front(), bare})
      if (const std::string text = without_quotes(form); !text.empty()) reading.forms.push_back(text);
    reading.forms.emplace_back(without_copula(reading.forms.front()));
    for (const std::string& form : {without_figures(reading.forms.front()), without_signs(reading.forms.front())})
      if (form.size() < reading.forms.front().size()) reading.forms.push_back(form);
    if (phrases.empty()) reading.forms.emplace_back(explained_line(part.text));
    if (phrases.empty()) reading.forms.emplace_back(predicate(part.text));
    reading.shown = reading.forms.front();
    return reading;
  }
  // The correction by which a short text replaces its answer: "Answer: blue. Actually, green.", "blue? No, green.". A
  // longer sentence is a remark, and so is a last line that begins with "no". Only a yes or no corrects a yes or no.
  static std::string corrected_text(std::string_view given) {
    const std::string text = replace_all(replace_all(given, "? No, ", ". No, "), "? no, ", ". no, ");
    const std::vector<std::string_view> corrections = corrections_in(text);
    if (corrections.empty()) return "";
    const std::string_view before = std::string_view(text).substr(0, text.size() - corrections.front().size());
    const std::string_view sentence = corrected_sentence(corrections.front());
    const std::vector<Phrase> phrases = answer_phrases(before);
    const std::string_view answer = phrases.empty() ? before : std::string_view(phrases.back().value);
    const std::size_t line = before.rfind('\n');
    if (line != before.npos && ascii_lower(trim(before.substr(line))).starts_with("no")) return "";
    if (!leading_verdict(first_sentence(answer)).empty())
      for (const std::string_view correction : corrections) {
        if (is_verdict(corrected_sentence(correction))) return std::string(corrected_sentence(correction));
        if (std::string word = leading_verdict(correction); !word.empty()) return word;
      }
    const bool remark = is_remark(corrections.front(), sentence, before);
    const std::size_t words = answer_words(sentence).size();
    if (remark || words == 0 || words > 4 || answer_words(answer).size() > 8) return "";
    if (!leading_verdict(answer).empty() && !is_verdict(sentence)) return "";
    return std::string(sentence);
  }
  // Does a correction say more than its sentence and "it's" before that, or praise the answer?
  static bool is_remark(std::string_view correction, std::string_view sentence, std::string_view before) {
    if (sentence.empty()) return true;
    const auto begin = static_cast<std::size_t>(sentence.data() - correction.data());
    if (trim(correction.substr(begin + sentence.size())).size() > 1) return true;
    if (begin == 0) return false;
    const std::vector<std::string> words = answer_words(sentence);
    const bool praise = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return is_among(word, std::initializer_list<std::string_view>{"very", "also", "quite", "still", "correct",
                                                                    "right", "true", "not", "most", "called", "known"});
    });
    return praise || words.size() > 2 || correction.substr(0, begin).find('.') != correction.npos ||
           ascii_lower(behind_last_sentence(before)).find("in fact") != before.npos;
  }
  static std::string_view behind_last_sentence(std::string_view text) {
    const std::size_t mark = text.find_last_of(".!?\n");
    return text.substr(mark == text.npos ? 0 : mark + 1);
  }
  // "Albert Einstein (1879-1955)", "Mount Everest (8,849 m)": without the figures in brackets at its end.
  static std::string without_figures(std::string_view text) {
    const std::size_t open = text.rfind(" (");
    if (open == text.npos || open < 3 || !text.ends_with(')') || text.find('\n') != text.npos) return std::string(text);
    const std::string_view inside = text.substr(open + 2, text.size() - open - 3);
    const bool figures = inside.size() < 24 && has_digit(inside);
    return std::string(figures ? text.substr(0, open) : text);
  }
  // "Blue 💙": without the pictographs at its end, except a cross.
  static std::string without_signs(std::string_view text) {
    std::size_t end = 0;
    bool crossed = false;
    for_each_character(text, [&](std::int32_t character, std::string_view bytes) {
      const bool picture = character >= 0x1F000 || (character >= 0x2600 && character < 0x27C0) || character == 0xFE0F;
      crossed = crossed || (character >= 0x2715 && character <= 0x2718) || character == 0x274C || character == 0x274E;
      if (!picture && bytes != " ") end = static_cast<std::size_t>(bytes.data() + bytes.size() - text.data());
    });
    return std::string(crossed ? text : text.substr(0, end));
  }
  // A short first line, if the sentences after it explain it and take nothing back.
  static std::string_view explained_line(std::string_view text) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || text.size() > 2000) return "";
    const std::string_view first = trim(text.substr(0, end)), rest = text.substr(end + 1);
    if (first.empty() || first.ends_with(':') || first.ends_with('?') || answer_words(first).size() > 4) return "";
    if (answer_words(rest.substr(0, rest.find('\n'))).size() < 4) return "";
    for (const std::string& word : answer_words(rest))
      for (const std::string_view contrast :
           {"but",      "however", "actually", "wait",      "no",    "not",           "correction",
            "or",       "so",      "thus",     "therefore", "hence", "alternatively", "instead",
            "although", "yet",     "sorry",    "maybe",     "could", "might",         "should"})
        if (word == contrast) return "";
    return first;
  }
  static bool is_verdict(std::string_view word) {
    const std::string lower = ascii_lower(word);
    return lower == "yes" || lower == "no" || lower == "true" || lower == "false";
  }
  // "Yes, it is higher." answers yes; "yes, no, maybe" and "no, wait" do not.
  static std::string leading_verdict(std::string_view text) {
    const std::size_t stop = std::min(text.find_first_of(",.;:!\n"), text.size());
    std::string_view word = text.substr(0, stop);
    for (const std::string_view end : {" - ", " \u2013 ", " \u2014 ", "\u2014", " it ", " there ", " this ", " they "})
      word = word.substr(0, word.find(end));
    const std::size_t next = std::min(text.find_first_not_of(",.;:! ", stop), text.size());
    const std::string_view second = text.substr(next, text.find_first_of(",.;:! \n", next) - next);
    const bool open = is_verdict(second) || ascii_lower(second) == "maybe" || ascii_lower(second) == "wait";
    return is_verdict(word) && !open ? std::string(word) : "";
  }
  // "Both figures have 5 bars. Yes.": a last sentence that is only a yes or no.
  static std::string closing_verdict(std::string_view text) {
    const std::size_t begin = text.rfind(". ");
    const std::string_view last = begin == text.npos ? "" : without_frame(text.substr(begin + 2));
    return is_verdict(last) ? std::string(last) : "";
  }
  // "The sport being played is tennis.", "It's a dog.": what the only sentence says its subject is, in a few words.
  static std::string predicate(std::string_view text) {
    const std::string_view framed = without_frame(text);
    const std::string_view sentence = framed.substr(0, framed.find(", not "));
    if (sentence.size() > 200) return "";
    const std::string lower = to_lower(sentence);
    if (lower.size() != sentence.size() || !starts_with_any(lower, kSubjects)) return "";
    std::size_t begin = 0, end = 0;
    for (const std::string_view copula : kCopulas)
      if (const std::size_t at = lower.rfind(copula); at != lower.npos && at + copula.size() > end) {
        begin = at;
        end = at + copula.size();
      }
    const std::string_view subject = std::string_view(lower).substr(0, begin);
    const bool doubted = std::any_of(std::begin(kDoubts), std::end(kDoubts),
                                     [&](std::string_view word) { return is_among(word, words_in(subject, "'")); });
    if (end == 0 || doubted || subject.find_first_of(",.:;!?\n") != subject.npos) return "";
    const std::string_view value = sentence.substr(end);
    return answer_words(value).size() < 5 ? std::string(value) : "";
  }
  // "1. Paris", "> Paris", "Paris is the answer": the answer without its frame.
  static std::string_view without_frame(std::string_view text) {
    if (text.find('\n') != text.npos) return text;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits > 0 && digits < 3 && text.substr(digits).starts_with(". ")) text.remove_prefix(digits + 2);
    if (text.starts_with("> ")) text.remove_prefix(2);
    for (const std::string_view end : {".", " is the answer", " is the correct answer"})
      if (text.ends_with(end)) text.remove_suffix(end.size());
    return text;
  }
  // "STOP" in quotes: the text inside; empty if there are no quotes around the whole.
  static std::string without_quotes(std::string_view text) {
    if (text.size() < 3 || (text[0] != '"' && text[0] != '\'') || text.find(text[0], 1) != text.size() - 1) return "";
    return std::string(text.substr(1, text.size() - 2));
  }
  static std::string without_period(std::string text) {
    if (text.size() > 1 && text.ends_with('.')) text.pop_back();
    return text;
  }
  static std::string verdict(double reward) {
    return reward == 1 ? "equals the gold answer" : reward == 0 ? "is not" : fmt::format("has F1 {:.3f} with", reward);
  }
  std::vector<std::string> golds_;
};

class ExactRule final : public TextRule {
 public:
  std::string description() const override { return "plain texts are equal, letter by letter"; }

 protected:
  std::string form(std::string_view text) const override { return plain_text(text); }
};

class NormalizedRule final : public TextRule {
 public:
  std::string description() const override { return "equal without case, articles and punctuation"; }
};

class F1Rule final : public TextRule {
 public:
  std::string description() const override { return "F1 of the words, repeated words counted; equal texts are 1"; }

 protected:
  double worth(const AnswerReading& answer, const std::string& gold) const override {
    if (equals(answer, gold)) return 1;
    std::vector<std::string> ours = parted(answer_words(answer.forms.front())), theirs = parted(answer_words(gold)),
                             common;
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
    return common.empty() ? 0
                          : 2 * static_cast<double>(common.size()) / static_cast<double>(ours.size() + theirs.size());
  }

 private:
  // Chinese and Japanese write no blanks, so each of their characters is a word.
  static std::vector<std::string> parted(const std::vector<std::string>& words) {
    std::vector<std::string> parts;
    for (const std::string& word : words) {
      std::string spaced;
      for_each_character(word, [&](std::int32_t character, std::string_view bytes) {
        const bool apart = character >= 0x2E80 && character < 0xA4D0;
        spaced += apart ? fmt::format(" {} ", bytes) : std::string(bytes);
      });
      for (std::string& part : split_words(spaced)) parts.push_back(std::move(part));
    }
    return parts;
  }
};

}  // namespace

std::unique_ptr<AnswerRule> make_exact_rule() { return std::make_unique<ExactRule>(); }
std::unique_ptr<AnswerRule> make_normalized_rule() { return std::make_unique<NormalizedRule>(); }
std::unique_ptr<AnswerRule> make_f1_rule() { return std::make_unique<F1Rule>(); }

}  // namespace agon::env
