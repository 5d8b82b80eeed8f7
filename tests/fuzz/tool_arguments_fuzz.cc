// libFuzzer harness of a policy's tool calls: a turn with tags, OpenAI's tool calls, or the arguments themselves.
// Nothing throws; arguments that fit a schema have the types that it asks for.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/json_parse.h"
#include "tests/fuzz/checks.h"
#include "tools/json_schema.h"
#include "tools/tool_format.h"

using namespace agon;
using namespace agon::tools;

namespace {

// The kinds of arguments that the tools take.
const Json& schema_text() {
  static const Json kSchema = Json::parse(R"({
    "type": "object",
    "properties": {
      "query": {"type": "string", "minLength": 1, "maxLength": 100},
      "top_k": {"type": "integer", "minimum": 1, "maximum": 20},
      "picture": {"type": "integer", "minimum": 1},
      "operation": {"type": "string", "enum": ["crop", "rotate"]},
      "angle": {"type": "number", "minimum": -360, "maximum": 360},
      "box": {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1000}, "minItems": 4, "maxItems": 4}
    },
    "required": ["query"],
    "additionalProperties": false
  })");
  return kSchema;
}

std::vector<ToolSpec> specs() {
  ToolSpec search, code;
  search.name = search.tag = "search";
  search.tag_argument = "query";
  search.schema = schema_text();
  code.name = code.tag = "code";
  code.tag_argument = "code";
  return {search, code};
}

void check_arguments(const Json& arguments) {
  static const JsonSchema kSchema("search", schema_text());
  if (!kSchema.fault(arguments).empty()) return;
  require(arguments.is_object() && arguments.contains("query") && arguments["query"].is_string());
  for (const auto& [key, value] : arguments.items()) require(schema_text()["properties"].contains(key));
  if (arguments.contains("top_k")) require(whole_number(arguments["top_k"], 1, 20).has_value());
  if (arguments.contains("box")) require(arguments["box"].is_array() && arguments["box"].size() == 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const std::vector<ToolSpec> kSpecs = specs();
  const std::vector<ToolCall> tagged = tag_calls(text, kSpecs);
  require(tagged.size() <= kMostTagCalls);
  for (const ToolCall& call : tagged) require(call.name == "search" || call.name == "code");
  const ParsedJson parsed = parse_json(text);
  if (!parsed.fault.empty()) return 0;
  const Json value(parsed.value);
  check_arguments(value);
  for (const ToolCall& call : openai_calls(value)) check_arguments(call.arguments);
  return 0;
}
