// env/grading/answer/letter_mentions.h - finds where a text names options by letter, and what it says about each. Pure
// functions; each reads only a few words around a letter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/grading/answer/option_text.h"
#include "env/grading/answer/option_verdict.h"

namespace agon::env {

struct LetterMention {
  std::size_t place, at;   // index of the option; where its letter stands in the text
  bool marked;             // in brackets or quotes, or after "option"
  bool ruled_out = false;  // "not B", "B is wrong"
  bool by_rest = false;    // ruled out by the text after it
};

// The letters of options that a plain text names, except those that it rules out and those that are words or names.
// Keeps a view of the text and a reference to the options.
class LetterMentions {
 public:
  LetterMentions(std::string_view text, const Options& options);
  std::vector<LetterMention> find() const;
  // "B: yes", "[x] B".
  bool is_marked_right(const LetterMention& mention) const;
  bool is_called_right(const LetterMention& mention) const;
  bool is_chosen(const LetterMention& mention) const;
  // "B fits better", "C does.": the answer, if the text says so of only one option.
  bool is_called_fitting(const LetterMention& mention) const;
  // After a contrast: "but it's more likely to be A", "the correct one is A", "B fits better".
  bool is_preferred(const LetterMention& mention) const;

 private:
  char before(std::size_t at) const { return at > 0 ? text_[at - 1] : ' '; }
  char after(std::size_t at) const { return at + 1 < text_.size() ? text_[at + 1] : ' '; }
  OptionVerdict verdict(std::size_t at) const;
  void spread_denials(std::vector<LetterMention>& mentions) const;
  bool joins(std::size_t first, std::size_t second, bool by_or) const;
  std::optional<std::size_t> place_at(std::size_t at) const;
  bool names_thing(std::size_t at) const;
  bool is_label(std::size_t at) const;
  bool stands_alone(std::size_t at) const;
  bool is_argument(std::size_t at) const;
  bool has_turkish_ending(std::size_t at) const;
  bool joins_left(std::size_t at) const;
  bool joins_right(std::size_t at) const;
  bool is_name_or_unit(std::size_t at) const;
  bool is_marked(std::size_t at) const;
  bool is_english_word(std::size_t at) const;
  bool is_ruled_out(std::size_t at) const;
  bool is_counterfactual(std::size_t at) const;
  bool begins_clause(std::size_t at) const;

  std::string_view text_;
  std::string lower_;
  const Options& options_;
  bool of_values_;                  // every option holds a digit
  bool words_;                      // words such as "no" are verdicts on options
  bool graded_ = false;             // an option is a letter with a sign: A+
  bool boxes_;                      // tick boxes stand before the letters
  bool named_ = true;               // all options' texts end with a letter: "Point B"
  std::vector<std::string> texts_;  // in lower case
};

// Are words such as "no" and "true" verdicts on options? Not if one of the options is such a word.
bool have_verdicts(const Options& options);

}  // namespace agon::env
