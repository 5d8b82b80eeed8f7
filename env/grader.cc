#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "env/answer_choice.h"
#include "env/answer_reason.h"
#include "env/answer_text.h"
#include "env/box.h"
#include "env/grade.h"
#include "env/gui_action.h"
#include "env/place_refused.h"
#include "env/place_said.h"
#include "env/word_list.h"
#include "tools/json_text.h"

namespace agon::env {

namespace {

std::string shown(std::string_view text) { return tools::shown_text(text, 120); }
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }
// In a message: ASCII alone, and not all of what is long.
std::string printed(const Json& json) {
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  const std::string_view start = tools::cut_text(text, 200);
  return fmt::format("{}{}", start, start.size() < text.size() ? "..." : "");
}

struct Score {
  double reward = 0;
  std::string why;
  std::string read;  // the form of the answer that was compared; empty: the one that is shown
};

}  // namespace

// An answer as its rule has read it.
struct AnswerReading {
  std::string shown;               // what was read; empty: nothing was
  std::string fault;               // why nothing was
  std::vector<std::string> forms;  // texts: the answer, then other ways to see it, which count where they are equal
  std::string raw;
  Number number;
  std::size_t option = 0;
  Box place;
  GuiAction action;
  bool found() const { return fault.empty(); }
};

// How one grader reads answers and compares them.
class AnswerRule {
 public:
  virtual ~AnswerRule() = default;
  virtual void take_gold(const Json& gold) = 0;
  virtual Score compare(const AnswerReading& answer) const = 0;
  virtual bool same(const AnswerReading& a, const AnswerReading& b) const = 0;
  virtual std::string description() const = 0;

  // `part`: the part of the response that counts. REQUIRES: it is not empty.
  virtual AnswerReading read(const AnswerPart& part) const = 0;

  std::string grader;
  GradeOptions options;

 protected:
  [[noreturn]] void throw_bad_gold(const Json& gold, const std::string& wanted) const {
    throw Error("grader {}: the gold answer {} is not {}.", grader, printed(gold), wanted);
  }
  // The gold answers as texts: a string, a number, or several.
  std::vector<std::string> gold_texts(const Json& gold) const {
    const Json several = gold.is_array() ? gold : Json::array({gold});
    std::vector<std::string> texts;
    for (const Json& one : several) {
      if (!one.is_string() && !one.is_number()) throw_bad_gold(gold, "a text, a number or a list of them");
      texts.push_back(one.is_string() ? one.get<std::string>() : dumped(one));
      if (trim(texts.back()).empty()) throw_bad_gold(gold, "a text with something in it");
    }
    if (texts.empty()) throw_bad_gold(gold, "a text, a number or a list of them");
    return texts;
  }
};

namespace {

AnswerReading not_read(std::string fault) {
  AnswerReading reading;
  reading.fault = std::move(fault);
  return reading;
}

// --- Texts ---

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
  Score compare(const AnswerReading& answer) const override {
    Score best;
    const std::string* nearest = nullptr;
    for (const std::string& gold : golds_)
      if (const double reward = worth(answer, gold); reward >= best.reward) {
        best.reward = reward;
        nearest = &gold;
      }
    if (!nearest) return best;
    best.read = form_like(answer, *nearest).value_or(answer.shown);
    best.why = fmt::format("{} {} {}", shown(best.read), verdict(best.reward), shown(*nearest));
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
  // What a short text puts in the place of its answer: "Answer: blue. Actually, green.", "blue? No, green.". A longer
  // sentence is a remark, and so is a "no" that the last line begins with; a yes or no is corrected by another alone.
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
    const bool remark = sentence.size() + 3 < trim(corrections.front()).size();  // more follows
    const std::size_t words = answer_words(sentence).size();
    if (remark || words == 0 || words > 4 || answer_words(answer).size() > 8) return "";
    if (!leading_verdict(answer).empty() && !is_verdict(sentence)) return "";
    return std::string(sentence);
  }
  // "Albert Einstein (1879-1955)", "Mount Everest (8,849 m)": without the figures in brackets behind it.
  static std::string without_figures(std::string_view text) {
    const std::size_t open = text.rfind(" (");
    if (open == text.npos || open < 3 || !text.ends_with(')') || text.find('\n') != text.npos) return std::string(text);
    const std::string_view inside = text.substr(open + 2, text.size() - open - 3);
    const bool figures = inside.size() < 24 && has_digit(inside);
    return std::string(figures ? text.substr(0, open) : text);
  }
  // "Blue 💙": without pictures behind it, but for a cross.
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
  // A short first line, where what follows are sentences that explain it and take nothing back.
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
  // "Both figures have 5 bars. Yes.": a last sentence that is nothing else.
  static std::string closing_verdict(std::string_view text) {
    const std::size_t begin = text.rfind(". ");
    const std::string_view last = begin == text.npos ? "" : without_frame(text.substr(begin + 2));
    return is_verdict(last) ? std::string(last) : "";
  }
  // "The sport being played is tennis.": what the only sentence says of its subject, in a few words.
  static std::string predicate(std::string_view text) {
    const std::string_view sentence = without_frame(text);
    const std::size_t verb = sentence.rfind(" is ");
    const std::string lower = ascii_lower(sentence.substr(0, 5));
    const bool subject = lower.starts_with("the ") || lower.starts_with("this ") || lower.starts_with("that ");
    if (!subject || verb == sentence.npos || first_sentence(sentence).size() < sentence.size()) return "";
    const std::string_view value = sentence.substr(verb + 4);
    const std::vector<std::string> words = answer_words(value);
    const bool says_no_more = words.size() < 5 && sentence.find_first_of(",:") == sentence.npos;
    return says_no_more && !is_among("not", words) ? std::string(value) : "";
  }
  // "1. Paris", "> Paris", "Paris is the answer": without what stands around it.
  static std::string_view without_frame(std::string_view text) {
    if (text.find('\n') != text.npos) return text;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits > 0 && digits < 3 && text.substr(digits).starts_with(". ")) text.remove_prefix(digits + 2);
    if (text.starts_with("> ")) text.remove_prefix(2);
    for (const std::string_view end : {".", " is the answer", " is the correct answer"})
      if (text.ends_with(end)) text.remove_suffix(end.size());
    return text;
  }
  // "STOP" in quotes; empty: there are none around the whole.
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
  // Chinese and Japanese write no blanks: there a character is a word.
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

// --- Numbers and options ---

class NumberRule final : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    for (const std::string& text : gold_texts(gold)) {
      const auto number = parse_plain_number(answer_part(text).text);
      if (!number) throw_bad_gold(gold, "a number");
      golds_.push_back(*number);
    }
  }
  AnswerReading read(const AnswerPart& given) const override {
    const AnswerPart part = without_object(given);
    const auto number = read_number(part.text);
    if (!number) return not_read(fmt::format("no number, or more than one, in {}", shown(part.text)));
    AnswerReading reading;
    reading.number = *number;
    reading.shown = to_string(*number);
    return reading;
  }
  Score compare(const AnswerReading& answer) const override {
    for (const Number& gold : golds_)
      if (equal_numbers(answer.number, gold, options.tolerance))
        return {1, fmt::format("{} equals the gold answer {}", answer.shown, to_string(gold))};
    return {0, fmt::format("{} is not {}", answer.shown, to_string(golds_.front()))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return equal_numbers(a.number, b.number, options.tolerance);
  }
  std::string description() const override {
    if (!options.tolerance) return "whole numbers are equal exactly, others within 1e-6 of the gold answer";
    return fmt::format("equal within {} of the gold answer or {}", options.tolerance->relative,
                       options.tolerance->absolute);
  }

 private:
  std::vector<Number> golds_;
};

class ChoiceRule final : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    if (options.options.empty()) throw Error("grader {}: needs \"options\", the texts of the choices.", grader);
    const bool number_of_options = gold.is_number() && !options_of_gold(dumped(gold), options.options).empty();
    const std::string text = gold.is_string() ? gold.get<std::string>() : number_of_options ? dumped(gold) : "";
    const std::vector<std::size_t> places = options_of_gold(text, options.options);
    if (places.size() > 1)
      throw Error(
          "grader {}: the gold answer {} fits two options, {} and {}. Give the one that is meant, by a letter or a "
          "text that fits no other.",
          grader, printed(gold), named(places[0]), named(places[1]));
    if (places.empty())
      throw_bad_gold(gold, fmt::format("one of the {} options, by letter or text", options.options.size()));
    gold_ = places.front();
  }
  AnswerReading read(const AnswerPart& given) const override {
    const AnswerPart part = without_object(given);
    const auto place = read_choice(part.text, options.options);
    if (!place) return not_read(fmt::format("names none of the options, or several: {}", shown(part.text)));
    AnswerReading reading;
    reading.option = *place;
    reading.shown = letter(*place);
    return reading;
  }
  Score compare(const AnswerReading& answer) const override {
    if (answer.option == gold_) return {1, fmt::format("option {} is the gold answer", named(gold_))};
    return {0, fmt::format("option {} is not {}", named(answer.option), named(gold_))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override { return a.option == b.option; }
  std::string description() const override { return "the same option"; }

 private:
  static std::string letter(std::size_t place) {
    return place < 26 ? std::string(1, static_cast<char>('A' + static_cast<char>(place)))
                      : fmt::format("{}", place + 1);
  }
  std::string named(std::size_t place) const {
    return place < options.options.size() ? fmt::format("{} ({})", letter(place), shown(options.options[place]))
                                          : letter(place);
  }
  std::size_t gold_ = 0;
};

// --- Places and actions ---

std::string shown_place(const Box& box) {
  if (box.x1 == box.x2 && box.y1 == box.y2) return fmt::format("({:g},{:g})", box.x1, box.y1);
  return fmt::format("[{:g},{:g},{:g},{:g}]", box.x1, box.y1, box.x2, box.y2);
}

std::pair<double, double> extent(Coordinates scale, const std::optional<std::pair<double, double>>& size) {
  if (scale == Coordinates::pixels) return size.value_or(std::pair(1.0, 1.0));
  return scale == Coordinates::unit ? std::pair(1.0, 1.0) : std::pair(1000.0, 1000.0);
}

// How much a place of one scale grows on another.
std::pair<double, double> growth(Coordinates from, Coordinates to,
                                 const std::optional<std::pair<double, double>>& size) {
  if (from == to) return {1, 1};
  const auto [width, height] = extent(from, size);
  const auto [new_width, new_height] = extent(to, size);
  return {new_width / width, new_height / height};
}

Box scaled(const Box& box, std::pair<double, double> by) {
  return {box.x1 * by.first, box.y1 * by.second, box.x2 * by.first, box.y2 * by.second};
}

class PlaceRule : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    const auto box = parse_box(plain_text(gold.is_string() ? gold.get<std::string>() : dumped(gold)));
    if (!box || box->area() <= 0) throw_bad_gold(gold, "a box [x1,y1,x2,y2] with an area");
    check_scale(gold, *box);
    gold_ = *box;
  }
  AnswerReading read(const AnswerPart& part) const override {
    const std::string said = without_coordinate_frame(without_refusals(part.text));
    std::optional<Box> place;
    for (const Phrase& phrase : answer_phrases(said))
      for (const std::string_view text :
           {own_part(phrase.sentence), std::string_view(phrase.sentence), std::string_view(phrase.value)})
        if (!place) place = parse(text);
    if (!place) place = parse(without_asides(said));
    if (!place) place = parse(said);
    if (!place) return not_read(fmt::format("no {} in {}", what(), shown(part.text)));
    AnswerReading reading;
    reading.place = scaled(*place, growth_of_response());
    reading.shown = shown_place(*place);
    return reading;
  }

 protected:
  virtual std::optional<Box> parse(std::string_view text) const = 0;
  virtual const char* what() const = 0;
  const Box& gold() const { return gold_; }

 private:
  // Of a phrase: up to where it goes on to other places.
  static std::string_view own_part(std::string_view sentence) {
    return before_reason(sentence.substr(0, std::min(sentence.find(", and "), sentence.find(" while "))));
  }
  std::pair<double, double> growth_of_response() const {
    if (!options.response_coordinates) return {1, 1};
    return growth(*options.response_coordinates, *options.coordinates, options.size);
  }
  void check_scale(const Json& gold, const Box& box) const {
    if (!options.coordinates || (*options.coordinates == Coordinates::pixels && !options.size)) return;
    const auto [width, height] = extent(*options.coordinates, options.size);
    if (box.x1 < 0 || box.y1 < 0 || box.x2 > width || box.y2 > height)
      throw_bad_gold(
          gold, fmt::format("inside the picture, whose sides are {:g} and {:g} in these coordinates", width, height));
  }
  Box gold_;
};

template <double (*overlap)(const Box&, const Box&)>
class OverlapRule final : public PlaceRule {
 public:
  Score compare(const AnswerReading& answer) const override {
    const double reward = std::clamp(overlap(answer.place, gold()), 0.0, 1.0);
    return {reward, fmt::format("{} overlaps {} by {:.3f}", answer.shown, shown_place(gold()), reward)};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override { return iou(a.place, b.place) > 0.5; }
  std::string description() const override { return "the overlap of the two boxes; right from 0.5 on"; }

 protected:
  std::optional<Box> parse(std::string_view text) const override { return parse_box(text); }
  const char* what() const override { return "box"; }
};

class PointRule final : public PlaceRule {
 public:
  Score compare(const AnswerReading& answer) const override {
    const auto [x, y] = centre(answer.place);
    const bool inside = contains(gold(), x, y);
    return {inside ? 1.0 : 0.0,
            fmt::format("({:g},{:g}) is {} {}", x, y, inside ? "inside" : "outside", shown_place(gold()))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return centre(a.place) == centre(b.place);
  }
  std::string description() const override {
    return "the point, or the centre of the box answered, is in the gold box";
  }

 protected:
  std::optional<Box> parse(std::string_view text) const override { return parse_place(text); }
  const char* what() const override { return "point"; }

 private:
  static std::pair<double, double> centre(const Box& box) { return {(box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2}; }
};

class ActionRule final : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    const auto action = gold.is_string() ? read_gui_action(gold.get<std::string>()) : std::nullopt;
    if (!action) throw_bad_gold(gold, "an action such as CLICK <point>[[x,y]]</point>");
    gold_ = in_thousandths(*action, gold_scale());
  }
  AnswerReading read(const AnswerPart& part) const override {
    auto action = read_gui_action(part.raw);
    if (!action) action = read_gui_action(part.text);
    if (!action) return not_read(fmt::format("no action in {}", shown(part.text)));
    AnswerReading reading;
    reading.action = in_thousandths(*action, options.response_coordinates.value_or(gold_scale()));
    reading.shown = format_gui_action(*action);
    return reading;
  }
  Score compare(const AnswerReading& answer) const override {
    const GuiMatch match = match_gui_action(answer.action, gold_, most_distance());
    const char* how = match.success ? "matches" : match.type ? "has other arguments than" : "is another action than";
    return {match.success ? 1.0 : 0.0, fmt::format("{} {} {}", answer.shown, how, format_gui_action(gold_))};
  }
  bool same(const AnswerReading& a, const AnswerReading& b) const override {
    return match_gui_action(a.action, b.action, most_distance()).success;
  }
  std::string description() const override {
    return fmt::format("the same action; a place within {:g} of the screen, a text equal or with F1 above 0.5",
                       most_distance());
  }

 private:
  double most_distance() const { return options.tolerance ? options.tolerance->relative : 0.14; }
  Coordinates gold_scale() const { return options.coordinates.value_or(Coordinates::thousandths); }
  GuiAction in_thousandths(GuiAction action, Coordinates scale) const {
    const auto [x, y] = growth(scale, Coordinates::thousandths, options.size);
    action.x *= x;
    action.y *= y;
    return action;
  }
  GuiAction gold_;
};

// --- Names ---

template <typename Rule>
std::unique_ptr<AnswerRule> make_rule() {
  return std::make_unique<Rule>();
}

struct Entry {
  const char* name;
  std::unique_ptr<AnswerRule> (*make)();
  double threshold = 1;
  bool tolerance = false, places = false;  // what it takes
};
constexpr Entry kGraders[] = {
    {"exact", make_rule<ExactRule>},
    {"normalized", make_rule<NormalizedRule>},
    {"number", make_rule<NumberRule>, 1, true},
    {"choice", make_rule<ChoiceRule>},
    {"f1", make_rule<F1Rule>, 0.5},
    {"f1_multiset", make_rule<F1Rule>, 0.5},
    {"iou", make_rule<OverlapRule<iou>>, 0.5, false, true},
    {"giou", make_rule<OverlapRule<giou>>, 0.5, false, true},
    {"ciou", make_rule<OverlapRule<ciou>>, 0.5, false, true},
    {"point_in_box", make_rule<PointRule>, 1, false, true},
    {"gui_step", make_rule<ActionRule>, 1, true, true},
};

const Entry& entry_of(const std::string& name) {
  const auto entry =
      std::find_if(std::begin(kGraders), std::end(kGraders), [&](const Entry& e) { return name == e.name; });
  if (entry == std::end(kGraders)) throw Error("{}", unknown_name_message("grader", name, Grader::names()));
  return *entry;
}

void check_options(const Entry& entry, const GradeOptions& options) {
  const auto refuse = [&](const char* key) {
    throw Error("grader {}: \"{}\" does nothing here; leave it out.", entry.name, key);
  };
  if (options.tolerance && !entry.tolerance) refuse("tolerance");
  const bool step = std::string_view(entry.name) == "gui_step";
  if (step && options.tolerance && options.tolerance->absolute != 0)
    throw Error("grader {}: \"tolerance\" is one number, the distance as a share of the screen.", entry.name);
  if (!entry.places && options.coordinates) refuse("coordinates");
  if (!entry.places && options.response_coordinates) refuse("response_coordinates");
  if (!entry.places && options.size) refuse("size");
  if (!entry.places) return;
  if (!step && options.response_coordinates && !options.coordinates)
    throw Error("grader {}: \"response_coordinates\" needs \"coordinates\", the scale of the gold answer.", entry.name);
  const auto gold = options.coordinates.value_or(Coordinates::thousandths);
  const auto response = options.response_coordinates.value_or(gold);
  const bool pixels = gold == Coordinates::pixels || response == Coordinates::pixels;
  if (options.size && !pixels)
    throw Error(
        "grader {}: \"size\" does nothing where neither \"coordinates\" nor \"response_coordinates\" are pixels. "
        "Leave it out.",
        entry.name);
  if (pixels && (gold != response || step) && !options.size)
    throw Error("grader {}: pixels need \"size\": [width, height] of the picture.", entry.name);
}

std::unique_ptr<AnswerRule> rule_named(const std::string& name, const GradeOptions& options) {
  const Entry& entry = entry_of(name);
  check_options(entry, options);
  auto rule = entry.make();
  rule->grader = name;
  rule->options = options;
  rule->options.options = without_labels(options.options);
  return rule;
}

// --- Keys of a task ---

std::vector<std::string> option_texts(const Json& value) {
  const auto is_text = [](const Json& item) { return item.is_string() || item.is_number(); };
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), is_text))
    throw Error("\"options\" is {}, not a list of texts", printed(value));
  std::vector<std::string> texts;
  for (const Json& item : value) texts.push_back(item.is_string() ? item.get<std::string>() : dumped(item));
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (trim(texts[i]).empty()) throw Error("\"options\": option {} is an empty text", i + 1);
  return texts;
}

double share(const Json& value, const char* key) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && std::isfinite(number))) throw Error("\"{}\" is {}, not a number from 0 on", key, printed(value));
  return number;
}

Tolerance tolerance_in(const Json& value) {
  if (!value.is_object()) return {share(value, "tolerance"), 0};
  if (value.empty()) throw Error("\"tolerance\" is {}. Give \"relative\" or \"absolute\", or leave it out");
  Tolerance tolerance{0, 0};
  for (const auto& [key, item] : value.items()) {
    if (key == "relative")
      tolerance.relative = share(item, "tolerance/relative");
    else if (key == "absolute")
      tolerance.absolute = share(item, "tolerance/absolute");
    else
      throw Error("{}", unknown_name_message("tolerance", key, {"relative", "absolute"}));
  }
  return tolerance;
}

Coordinates coordinates_in(const Json& value, const char* key) {
  const std::string name = value.is_string() ? value.get<std::string>() : dumped(value);
  if (name == "pixels") return Coordinates::pixels;
  if (name == "0-1") return Coordinates::unit;
  if (name == "0-1000") return Coordinates::thousandths;
  throw Error("\"{}\" is {}; it is \"pixels\", \"0-1\" or \"0-1000\"", key, printed(value));
}

std::pair<double, double> size_in(const Json& value) {
  const bool pair = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number() &&
                    value[0].get<double>() > 0 && value[1].get<double>() > 0;
  if (!pair) throw Error("\"size\" is {}, not [width, height] in pixels", printed(value));
  return {value[0].get<double>(), value[1].get<double>()};
}

}  // namespace

GradeOptions grade_options_of(const Json& task) {
  GradeOptions options;
  const auto given = [&](const char* key) { return task.contains(key) && !task[key].is_null(); };
  if (given("options")) options.options = option_texts(task["options"]);
  if (given("tolerance")) options.tolerance = tolerance_in(task["tolerance"]);
  if (given("coordinates")) options.coordinates = coordinates_in(task["coordinates"], "coordinates");
  if (given("response_coordinates"))
    options.response_coordinates = coordinates_in(task["response_coordinates"], "response_coordinates");
  if (given("size")) options.size = size_in(task["size"]);
  return options;
}

Grader::Grader(const std::string& name, const Json& gold, const std::vector<std::string>& options)
    : Grader(name, gold, GradeOptions{options, {}, {}, {}, {}}) {}

Grader::Grader(const std::string& name, const Json& gold, const GradeOptions& options) {
  std::unique_ptr<AnswerRule> rule = rule_named(name, options);
  rule->take_gold(gold);
  rule_ = std::move(rule);
  threshold_ = entry_of(name).threshold;
}

Grade Grader::judge(std::string_view response) const {
  Grade grade;
  const AnswerPart part = answer_part(response);
  grade.steps = {fmt::format("extract: {}: {}", to_string(part.kind), shown(part.raw)),
                 fmt::format("normalise: {}", shown(part.text))};
  const AnswerReading reading =
      part.text.empty() && part.raw.empty() ? not_read("the answer is empty") : rule_->read(part);
  if (!reading.found()) {
    grade.why = reading.fault;
    grade.steps.push_back(fmt::format("read: nothing, {}", reading.fault));
    return grade;
  }
  const Score score = rule_->compare(reading);
  grade.reward = score.reward;
  grade.correct = correct(score.reward);
  grade.extracted = score.read.empty() ? reading.shown : score.read;
  grade.why = score.why;
  grade.steps.push_back(fmt::format("read: {}", shown(*grade.extracted)));
  grade.steps.push_back(fmt::format("compare: {} ({}): {}", rule_->grader, rule_->description(), score.why));
  return grade;
}

bool Grader::correct(double reward) const { return reward >= threshold_; }

std::vector<std::string> Grader::names() {
  std::vector<std::string> names;
  for (const Entry& entry : kGraders) names.emplace_back(entry.name);
  return names;
}

Json grading_of(const std::string& grader, const Json& task) {
  Json grading = {{"grader", grader}};
  for (const std::string& key : kGradeKeys)
    if (task.contains(key) && !task[key].is_null()) grading[key] = task[key];
  return grading;
}

std::vector<std::optional<std::size_t>> sides_of(const std::vector<std::string>& responses, const Json& grading) {
  const std::unique_ptr<AnswerRule> rule =
      rule_named(grading.at("grader").get<std::string>(), grade_options_of(grading));
  std::vector<std::optional<std::size_t>> sides;
  std::vector<AnswerReading> first;  // of each side
  for (const std::string& response : responses) {
    sides.emplace_back();
    const AnswerPart part = answer_part(response);
    AnswerReading reading = part.text.empty() ? not_read("empty") : rule->read(part);
    if (!reading.found()) continue;
    const auto side =
        std::find_if(first.begin(), first.end(), [&](const AnswerReading& one) { return rule->same(one, reading); });
    sides.back() = static_cast<std::size_t>(side - first.begin());
    if (side == first.end()) first.push_back(std::move(reading));
  }
  return sides;
}

}  // namespace agon::env
