// The part of a response that is its answer, and its text without markup.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "env/grading/answer/part.h"
#include "env/grading/answer/plain_text.h"

using namespace agon::env;

TEST_CASE("plain text") {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"**73**", "73"},
      {"  a \n\n b\t c ", "a\nb c"},
      {"\\(30\\)", "30"},
      {"$x^2$", "x^2"},
      {"$5 and $6", "$5 and $6"},
      {"US$12 or US$15", "US$12 or US$15"},
      {"30^\\circ", "30°"},
      {"30^{\\circ}\\text{C}", "30°C"},
      {"\\frac12", "1/2"},
      {"\\dfrac{10}{4}", "10/4"},
      {"1\\frac{1}{2}", "1 1/2"},
      {"\\frac{a+1}{b}", "(a+1)/b"},
      {"\\sqrt{3}", "√3"},
      {"\\boxed{\\text{Sunday}}", "Sunday"},
      {"\\mathrm{5\\,kg}", "5 kg"},
      {"1{,}234", "1,234"},
      {"50\\%", "50%"},
      {"\\$5", "$5"},
      {"\\left(3, 4\\right)", "(3, 4)"},
      {"`x_1`", "x_1"},
      {"```json\n{\"a\": 1}\n```", "{\"a\": 1}"},
      {"## The end", "The end"},
      {"#### 5", "#### 5"},
      {"a<b", "a<b"},
      {"a <b>c</b> d", "a c d"},
      {"x\xC2\xB2 and 10\xE2\x81\xBB\xC2\xB3", "x^2 and 10^-3"},
      {"2½", "2 1/2"},
      {"５０％", "50%"},
      {"٣٫١٤", "3.14"},
      {"−5", "-5"},
      {"“a”", "\"a\""},
      {"1\u00a0234\u202f567", "1 234 567"},
      {"a\u200bb\ufeff", "ab"},
      {"e\u0301", "é"},
      {"*", "*"},
      {"A*", "A*"},
      {"A^+ and $Cl^{-}$", "A+ and Cl-"},
      {"x^-1", "x^-1"},
      {"a &lt; b &amp;&gt;", "a < b &>"},
      {"~~5~~ 4", "4"},
      {"~~B~~ **D**", "D"},
      {"2*3*4", "2*3*4"},
      {"\xff", "\xEF\xBF\xBD"}};
  for (const auto& [text, plain] : texts) {
    INFO(text);
    CHECK(plain_text(text) == plain);
  }
}

TEST_CASE("the strongest part of a response counts") {
  using Kind = AnswerPart::Kind;
  const auto part = [](const std::string& response) { return answer_part(response); };
  CHECK(part("x <answer>a</answer> y <answer> b </answer> z").text == "b");
  CHECK(part("<answer>\\boxed{a}</answer>").text == "a");
  CHECK(part("\\boxed{c} <answer>a</answer>").text == "a");
  CHECK(part("<answer><answer>5</answer></answer>").text == "5");
  CHECK(part("<answer>5").text == "5");
  CHECK(part("<ANSWER>5</Answer>").text == "5");
  CHECK(part("<answer>5</answer> Note that <answer> is a tag").text == "5");
  CHECK(part("<answer></answer> 5").text.empty());
  CHECK(part("\\boxed{1} then \\boxed{2}").text == "2");
  CHECK(part("\\boxed{1} then \\boxed{}").text == "1");
  CHECK(part("<|begin_of_box|>7<|end_of_box|>").text == "7");
  CHECK(part("<think>\\boxed{1}</think> It is 2").text == "It is 2");
  CHECK(part("<think>it is 3</think>").text == "it is 3");
  CHECK(part("7 <score>0.5</score>").text == "7");
  CHECK(part("7").kind == Kind::whole);
  CHECK(part("").text.empty());
}
