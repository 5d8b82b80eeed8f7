#include "env/grading/rules/number_rule.h"

#include <fmt/format.h>

#include "core/json_parse.h"
#include "env/grading/answer/number/meant.h"
#include "env/grading/answer/number/text.h"

namespace agon::env {
namespace {

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
    if (!number) return not_read(fmt::format("no number, or more than one, in {}", shown_answer(part.text)));
    AnswerReading reading;
    reading.number = *number;
    reading.shown = to_string(*number);
    return reading;
  }
  RuleScore compare(const AnswerReading& answer) const override {
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

}  // namespace

std::unique_ptr<AnswerRule> make_number_rule() { return std::make_unique<NumberRule>(); }

}  // namespace agon::env
