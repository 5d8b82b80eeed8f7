#include "env/verdict.h"

#include <catch2/catch.hpp>

using namespace agon::env;

TEST_CASE("verdict: the word between the first tags, trimmed, in any case") {
  CHECK(parse_verdict("Thought.\n\n<Answer>Correct</Answer>").verdict == StepVerdict::correct);
  CHECK(parse_verdict("<Answer>INCORRECT</Answer>").verdict == StepVerdict::incorrect);
  CHECK(parse_verdict("<Answer>Incorrect</Answer> or <Answer>Correct</Answer>").verdict == StepVerdict::incorrect);
  for (const char* invalid :
       {"", "Correct", "<Answer>Correct", "Correct</Answer>", "</Answer><Answer>Correct", "<Answer> </Answer>",
        "<Answer>Correct.</Answer>", "<Answer></Answer>", "<answer>Correct</answer>", "<Answer>\xff</Answer>"}) {
    const ParsedVerdict verdict = parse_verdict(invalid);
    INFO(invalid);
    CHECK(verdict.verdict == StepVerdict::invalid);
    CHECK_FALSE(verdict.fault.empty());
  }
  for (const std::string text : {"x<Answer>Correct</Answer>", "x<Answer>\n Correct </Answer>"}) {
    CHECK(parse_verdict(text).verdict == StepVerdict::correct);
    CHECK(parse_verdict(text).word.of(text) == "Correct");
  }
}
