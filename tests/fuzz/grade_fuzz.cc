// libFuzzer harness of the graders: the first byte chooses one, the rest is a response and also a gold. Only Error for
// a gold may be thrown; nothing may crash or run long; rewards stay in [0, 1]; two readings of one text agree.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "env/grading/answer/choice.h"
#include "env/grading/answer/number/meant.h"
#include "env/grading/answer/plain_text.h"
#include "env/grading/grader.h"
#include "env/grading/visual_arft.h"
#include "tests/fuzz/checks.h"

using namespace agon;
using namespace agon::env;

namespace {

const std::vector<std::string>& options() {
  static const std::vector<std::string> kOptions = {"<", "-5", "1.5", "15", "a red cat", "A+", "A", "I do"};
  return kOptions;
}

const std::vector<Grader>& graders() {
  static const std::vector<Grader> kGraders = {{"exact", "Sunday"},
                                               {"normalized", "The The"},
                                               {"number", "\\frac{1}{2}"},
                                               {"choice", "C", options()},
                                               {"f1", "New York, New York"},
                                               {"iou", {0, 0, 900, 900}},
                                               {"giou", {0, 0, 900, 900}},
                                               {"ciou", {0, 0, 900, 900}},
                                               {"point_in_box", {0, 0, 900, 900}},
                                               {"gui_step", "CLICK <point>[[500,300]]</point>"}};
  return kGraders;
}

void check_as_gold(std::string_view text, const std::string& name) {
  try {
    const Grader grader(name, std::string(text), options());
    const double reward = grader.grade(text);
    require(reward >= 0 && reward <= 1);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t chosen = data[0] % graders().size();
  const Grade grade = graders()[chosen].judge(text);
  require(grade.reward >= 0 && grade.reward <= 1 && !grade.why.empty() && !grade.steps.empty());
  require(grade.correct == graders()[chosen].correct(grade.reward) && (grade.extracted || grade.reward == 0));
  check_as_gold(text, Grader::names()[data[0] % Grader::names().size()]);
  if (const auto number = read_number(plain_text(text))) require(std::isfinite(number->value));
  if (const auto place = read_choice(plain_text(text), options())) require(*place < options().size());
  const auto sides = sides_of({std::string(text), std::string(text)}, {{"grader", "number"}});
  require(sides[0] == sides[1]);
  for (const char* preset : {"paper", "official_code"}) {
    const VisualArftRules rules = visual_arft_rules(preset);
    require(std::isfinite(search_turn_reward(text, text, rules, *word_overlap_similarity()).total));
    require(std::isfinite(code_turn_reward(text, text, rules).total));
  }
  return 0;
}
