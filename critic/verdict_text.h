// critic/verdict_text.h - what a generative critic writes: thought, critique, conclusion, and
// <Answer>Correct</Answer> or <Answer>Incorrect</Answer> (seed 001). Pure functions over UTF-8 text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "critic/critic.h"
#include "env/protocol.h"

namespace agon::critic {

struct VerdictText {
  Judgement judgement = Judgement::invalid;  // correct, incorrect or invalid
  env::Span answer;                          // what stands between the tags; empty without them
  std::string fault;                         // of an invalid one
};
// Between the first <Answer> and the first </Answer> after the start of the text; compared without regard to case and
// with nothing trimmed, as SPC's scorer does: "<Answer> Correct</Answer>" is invalid.
VerdictText parse_verdict(std::string_view text);

}  // namespace agon::critic
