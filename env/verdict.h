// env/verdict.h - parses and writes the verdict of a critic as SPC (arXiv 2504.19162) formats it: thought, critique,
// conclusion, then <Answer>Correct</Answer> or <Answer>Incorrect</Answer>. Pure functions over UTF-8 text.
#pragma once

#include <string>
#include <string_view>

#include "env/protocol.h"

namespace agon::env {

enum class StepVerdict { correct, incorrect, invalid };
// "Correct", "Incorrect". REQUIRES: not invalid.
const char* word_of(StepVerdict verdict);

// "<Answer>Correct</Answer>" or "<Answer>Incorrect</Answer>". REQUIRES: not invalid.
std::string tagged(StepVerdict verdict);

struct ParsedVerdict {
  StepVerdict verdict = StepVerdict::invalid;
  Span word;          // the text between the tags; empty without them
  std::string fault;  // why the verdict is invalid
};
// Reads the text between the first <Answer> and the first </Answer>, trimmed; letter case is ignored.
ParsedVerdict parse_verdict(std::string_view text);

}  // namespace agon::env
