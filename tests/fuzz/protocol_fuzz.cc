// libFuzzer harness of the parsers of a policy's text: env/protocol, env/grading/box_text, env/grading/gui_action and
// related rules. Nothing may throw, crash or run long; segments cover every byte once, and results survive writing and
// reading.
#include <utf8proc.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "env/grading/box.h"
#include "env/grading/box_text.h"
#include "env/grading/gui_action.h"
#include "env/grading/published_rules.h"
#include "env/grading/single_rules.h"
#include "env/protocol.h"
#include "tests/fuzz/checks.h"
#include "tests/support/choice_letter.h"

using namespace agon::env;

namespace {

void check_segments(std::string_view text, StepRule rule) {
  std::size_t at = 0;
  int step = 0;
  for (const Segment& segment : segment_turn(text, rule)) {
    require(segment.span.begin == at && segment.span.end > at);
    at = segment.span.end;
    if (segment.step >= 0) require(segment.step == step++);
  }
  require(at == text.size());
  at = 0;
  for (const Span& span : split_steps(text, rule)) {
    require(span.begin >= at && span.end > span.begin && span.end <= text.size());
    at = span.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (StepRule rule : {StepRule::blank_line, StepRule::newline, StepRule::sentence}) check_segments(text, rule);
  extract_answer(text);
  if (const auto score = extract_score(text)) require(*score >= 0 && *score <= 1);
  if (const auto box = parse_box(text)) {
    require(box->x1 <= box->x2 && box->y1 <= box->y2 && std::isfinite(ciou(*box, {0, 0, 10, 10})));
    require(parse_box(format_box(*box)).has_value());
  }
  if (const auto action = parse_gui_action(text)) {
    const auto again = parse_gui_action(format_gui_action(*action));
    require(again && again->type == action->type && again->text == action->text);
    require(match_gui_action(*action, *action).success);
  }
  if (const auto number = parse_number(text)) require(std::isfinite(*number));
  if (const auto letter = choice_letter(text, {"cat", "dog"})) require(*letter == 'A' || *letter == 'B');
  const double f1 = token_f1(text, "the red cat");
  require(f1 >= 0 && f1 <= 1);
  // Broken bytes may join into a letter once the punctuation between them is gone.
  const std::string normal = normalize_answer(text);
  if (is_utf8(text)) require(normalize_answer(normal) == normal);
  return 0;
}
