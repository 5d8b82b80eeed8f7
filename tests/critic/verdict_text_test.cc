#include "critic/verdict_text.h"

#include <catch2/catch.hpp>

using namespace agon::critic;

TEST_CASE("verdict: the word between the first tags, in any case, with nothing trimmed") {
  CHECK(parse_verdict("Thought.\n\n<Answer>Correct</Answer>").judgement == Judgement::correct);
  CHECK(parse_verdict("<Answer>INCORRECT</Answer>").judgement == Judgement::incorrect);
  CHECK(parse_verdict("<Answer>Incorrect</Answer> or <Answer>Correct</Answer>").judgement == Judgement::incorrect);
  for (const char* invalid :
       {"", "Correct", "<Answer>Correct", "Correct</Answer>", "</Answer><Answer>Correct", "<Answer> Correct</Answer>",
        "<Answer>Correct.</Answer>", "<Answer></Answer>", "<answer>Correct</answer>", "<Answer>\xff</Answer>"}) {
    const VerdictText verdict = parse_verdict(invalid);
    INFO(invalid);
    CHECK(verdict.judgement == Judgement::invalid);
    CHECK_FALSE(verdict.fault.empty());
  }
  const std::string text = "x<Answer>Correct</Answer>";
  CHECK(parse_verdict(text).answer.of(text) == "Correct");
}
