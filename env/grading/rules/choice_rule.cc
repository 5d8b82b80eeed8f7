#include "env/grading/rules/choice_rule.h"

#include <fmt/format.h>

#include "core/error.h"
#include "env/grading/answer/choice.h"

namespace agon::env {
namespace {

class ChoiceRule final : public AnswerRule {
 public:
  void take_gold(const Json& gold) override {
    if (options.options.empty()) throw Error("grader {}: needs \"options\", the texts of the choices.", grader);
    const bool number_of_options = gold.is_number() && !options_of_gold(text_of(gold), options.options).empty();
    const std::string text = gold.is_string() || number_of_options ? text_of(gold) : "";
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
    if (!place) return not_read(fmt::format("names none of the options, or several: {}", shown_answer(part.text)));
    AnswerReading reading;
    reading.option = *place;
    reading.shown = letter(*place);
    return reading;
  }
  RuleScore compare(const AnswerReading& answer) const override {
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
    return place < options.options.size() ? fmt::format("{} ({})", letter(place), shown_answer(options.options[place]))
                                          : letter(place);
  }
  std::size_t gold_ = 0;
};

}  // namespace

std::unique_ptr<AnswerRule> make_choice_rule() { return std::make_unique<ChoiceRule>(); }

}  // namespace agon::env
