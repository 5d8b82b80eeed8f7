#include "env/step_facts.h"

#include <catch2/catch.hpp>

using namespace agon;
using namespace agon::env;

TEST_CASE("the facts of a step are one object, and come back from it") {
  StepFacts facts;
  CHECK(to_json(facts) == Json::object());
  facts.info = {{"objects", {{{"name", "red"}}}}};
  facts.refused = "no such button";
  facts.success = false;
  facts.step_correct = true;
  facts.turn_correct = false;
  facts.turn_reward = 0.25;
  facts.grading = {{"grader", "number"}};
  facts.tool_calls = {{"python", {{"code", "1"}}, "ok", 0.5, 7}};
  const Json json = to_json(facts);
  CHECK(json.dump() ==
        R"({"objects":[{"name":"red"}],"error":"no such button","success":false,"step_correct":true,)"
        R"("turn_correct":false,"turn_reward":0.25,"grading":{"grader":"number"},)"
        R"("tool_calls":[{"tool":"python","arguments":{"code":"1"},"outcome":"ok","seconds":0.5,"bytes":7}]})");
  const StepFacts back = step_facts_of(json);
  CHECK((back.refused == "no such button" && back.success == false && back.turn_reward == 0.25));
  CHECK(back.info == facts.info);
  CHECK(to_json(back) == json);
}

TEST_CASE("facts of another form stay what they are") {
  for (const char* text : {R"(null)", R"([1])", R"({"success": 1, "error": {}, "turn_reward": "x", "grading": 3})",
                           R"({"tool_calls": [{"tool": "python"}]})", R"({"tool_calls": {}, "tool": 1})"}) {
    const StepFacts facts = step_facts_of(Json::parse(text));
    CHECK_FALSE(facts.success);
    CHECK_FALSE(facts.refused);
    CHECK(facts.tool_calls.empty());
    CHECK(to_json(facts) == Json::parse(text));
  }
}
