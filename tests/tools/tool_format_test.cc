#include <catch2/catch.hpp>

#include "tools/tool_format.h"

using namespace agon;
using namespace agon::tools;

namespace {

std::vector<ToolSpec> specs() {
  const Json schema = Json::parse(R"({"type": "object", "properties": {"query": {"type": "string"}}})");
  return {{"search", "Finds.", schema, "search", "query", 30, true},
          {"python", "Runs.", schema, "code", "query"},
          {"image", "Shows.", schema}};
}

std::vector<std::string> called(std::string_view turn) {
  std::vector<std::string> calls;
  for (const ToolCall& call : tag_calls(turn, specs()))
    calls.push_back(call.name + ": " + call.arguments["query"].get<std::string>());
  return calls;
}

using Calls = std::vector<std::string>;

}  // namespace

TEST_CASE("one list of tools has three forms") {
  const std::vector<ToolSpec> tools = specs();
  const Json openai = openai_tools(tools), mcp = mcp_tools(tools), openenv = openenv_tools(tools);
  CHECK(openai[0].dump() == R"({"type":"function","function":{"name":"search","description":"Finds.","parameters":)"
                            R"({"type":"object","properties":{"query":{"type":"string"}}}}})");
  CHECK(mcp["tools"][0].dump() ==
        R"({"name":"search","description":"Finds.","inputSchema":)"
        R"({"type":"object","properties":{"query":{"type":"string"}}},"annotations":{"idempotentHint":true}})");
  CHECK(openenv["tools"][2].dump() == R"({"name":"image","description":"Shows.","input_schema":)"
                                      R"({"type":"object","properties":{"query":{"type":"string"}}}})");
  CHECK(openai_tools({}).dump() == "[]");
}

TEST_CASE("tags call tools") {
  CHECK(called("<think>who?</think>\n<search> Ada Lovelace \n</search>") == Calls{"search: Ada Lovelace"});
  CHECK(called("<code>a</code> then <search>b</search><code>c</code>") == Calls{"python: a", "search: b", "python: c"});
  CHECK(called("<code>print('<search>x</search>')</code>") == Calls{"python: print('<search>x</search>')"});
  CHECK(called("<search></search>") == Calls{"search: "});
  CHECK(called("<search>never closed <code>x = 1</code>") == Calls{"python: x = 1"});
  CHECK(called("</search><search") == Calls{});
  CHECK(called("<image>1</image>") == Calls{});
  CHECK(called("") == Calls{});
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += "<search>a</search>";
  CHECK(called(many).size() == kMostTagCalls);
}

TEST_CASE("OpenAI's tool calls are taken, whatever they hold") {
  const auto calls = openai_calls(Json::parse(
      R"([{"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"x\"}"}},
          {"id": 5, "function": {"name": "image", "arguments": {"a": 1}}}, {"function": []}, 3, null])"));
  REQUIRE(calls.size() == 5);
  CHECK(calls[0].id == "c1");
  CHECK(calls[0].name == "search");
  CHECK(calls[0].arguments == "{\"query\": \"x\"}");
  CHECK(calls[1].id.empty());
  CHECK(calls[1].arguments == Json{{"a", 1}});
  CHECK(calls[2].name.empty());
  CHECK(openai_calls("nothing").empty());
}
