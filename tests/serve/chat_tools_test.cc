#include "serve/chat_tools.h"

#include <catch2/catch.hpp>

#include "agents/hub/model_folder.h"
#include "paths.h"
#include "serve/chat_answer.h"
#include "serve/chat_request.h"

using namespace agon;
using namespace agon::serve;
using Catch::Contains;

namespace {

constexpr const char* kTool =
    R"({"type": "function", "function": {"name": "look_up", "description": "Finds", "parameters":
        {"type": "object", "properties": {"word": {"type": "string"}, "at": {"type": "integer"}}}}})";

// The template inputs of the request {keys}.
agents::ChatInputs inputs_of(const std::string& keys) {
  const std::string body = "{\"messages\": [{\"role\": \"user\", \"tools\": 1}], " + keys + "}";
  const SortedJson parsed = SortedJson::parse(body);
  return read_template_inputs(RequestFields(parsed), body);
}
ApiError error_of(const std::string& keys) {
  try {
    inputs_of(keys);
  } catch (const Refused& refusal) {
    return refusal.error;
  }
  return {200, "nothing was refused"};
}

const agents::Tokenizer& tokenizer() {
  static const auto kFolder = agents::open_model_folder(test::source_path("models/agon-tiny"));
  return *kFolder.tokenizer;
}

AnswerWriter writer_with(std::size_t most_calls) {
  AnswerOptions options;
  options.most_calls = most_calls;
  return {AnswerForm::chat, new_head("chatcmpl-", "m"), options, tokenizer()};
}

constexpr const char* kTwoCalls =
    "I look.\n<tool_call>\n{\"name\": \"look_up\", \"arguments\": {\"word\": \"b\", \"at\": 2}}\n</tool_call>\n"
    "<tool_call>{\"name\": \"end\", \"arguments\": \"{}\"}</tool_call>";

}  // namespace

TEST_CASE("tools go to the template as they were written") {
  const agents::ChatInputs inputs = inputs_of("\"tools\": [" + std::string(kTool) + "]");
  REQUIRE(inputs.tools.size() == 1);
  CHECK(inputs.tools[0].dump() == Json::parse(kTool).dump());  // "type" before "function", "word" before "at"
  CHECK(inputs_of("\"tools\": []").tools.is_null());
  CHECK(inputs_of("\"tools\": null").tools.is_null());
  CHECK(inputs_of("\"tool_choice\": \"none\", \"tools\": [" + std::string(kTool) + "]").tools.is_null());
  CHECK_FALSE(inputs_of("\"tool_choice\": \"auto\", \"tools\": [" + std::string(kTool) + "]").tools.is_null());
  CHECK(inputs_of(R"("chat_template_kwargs": {"z": 1, "enable_thinking": false})").variables.dump() ==
        R"({"z":1,"enable_thinking":false})");
}

TEST_CASE("tools and choices that cannot be are refused by their key") {
  const std::string tools = "\"tools\": [" + std::string(kTool) + "]";
  for (const auto& [keys, param, word] : std::vector<std::array<std::string, 3>>{
           {"\"tools\": 3", "tools", "not a list"},
           {"\"tools\": [" + std::string(kTool) + ", {\"type\": \"retrieval\"}]", "tools[1]", "retrieval"},
           {R"("tools": [{"type": "function", "function": {"name": ""}}])", "tools[0]", "name"},
           {R"("tools": [{"type": "function", "function": 7}])", "tools[0]", "name"},
           {"\"tool_choice\": \"required\"", "tool_choice", "there are no 'tools'"},
           {tools + ", \"tool_choice\": \"required\"", "tool_choice", "does not constrain"},
           {tools + R"(, "tool_choice": {"type": "function", "function": {"name": "look_up"}})", "tool_choice", "auto"},
           {R"("chat_template_kwargs": 3)", "chat_template_kwargs", "not an object"},
           {R"("chat_template_kwargs": {"messages": []})", "chat_template_kwargs", "a key of the request"}}) {
    CAPTURE(keys);
    const ApiError error = error_of(keys);
    CHECK(error.status == 400);
    CHECK(error.param == param);
    CHECK_THAT(error.message, Contains(word));
  }
  std::string many;
  for (int i = 0; i < 2000; ++i) many += (i > 0 ? ", \"" : "\"") + std::to_string(i) + "\": 0";
  CHECK_THAT(
      error_of(R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {)" + many + "}}}]").message,
      Contains("keys"));
  CHECK_THAT(error_of(R"("tools": [{"type": "function", "function": {"name": ")" + std::string(300'000, 'x') + "\"}}]")
                 .message,
             Contains("bytes"));
  const std::string twice = "\"tools\": {" + many + "}, " + tools;  // the last value counts, the first is not checked
  CHECK_THAT(error_of(twice).message, Contains("more than once"));
  std::string lists = "\"tools\": [0";
  for (int i = 0; i < 300'000; ++i) lists += ",0";
  CHECK_THAT(error_of(lists + "], " + tools).message, Contains("more than once"));
}

TEST_CASE("calls of a message are read for the template") {
  const ChatCall call = value_or_throw(read_chat_call(SortedJson::parse(R"({"messages": [
      {"role": "user", "content": "x"},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"z\": 1, \"a\": 2}"}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "not JSON"}},
        {"id": "c3", "type": "function", "function": {"name": "h"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "3"}]})")));
  const std::vector<ToolCall>& calls = call.request.messages[1].tool_calls;
  REQUIRE(calls.size() == 3);
  CHECK(call.request.messages[1].text().empty());
  CHECK((calls[0].id == "c1" && calls[0].name == "f"));
  CHECK(calls[0].arguments.dump() == R"({"z":1,"a":2})");
  CHECK(calls[1].arguments == "not JSON");
  CHECK(calls[2].arguments == Json::object());
  CHECK(call.request.messages[2].role == Role::tool);
}

TEST_CASE("calls are read from an answer, all or none") {
  const AnswerParts two = parts_of_answer(kTwoCalls, 10);
  CHECK(two.text == "I look.\n");
  REQUIRE(two.calls.size() == 2);
  CHECK(two.calls[0].name == "look_up");
  CHECK(two.calls[0].arguments.dump() == R"({"word":"b","at":2})");
  CHECK(two.calls[0].id != two.calls[1].id);
  CHECK(parts_of_answer(kTwoCalls, 1).calls.size() == 1);
  CHECK(parts_of_answer(kTwoCalls, 0).text == kTwoCalls);
  CHECK(parts_of_answer("<tool_call>{\"name\": \"f\", \"arguments\": {}}", 9).calls.size() == 1);  // not closed
  for (const char* text :
       {"no call", "<tool_call>{\"name\": \"f\", \"argu", "<tool_call>{\"arguments\": {}}</tool_call>",
        "<tool_call>{\"name\": 3, \"arguments\": {}}</tool_call>", "<tool_call></tool_call>",
        "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><tool_call>x</tool_call>"}) {
    CAPTURE(text);
    CHECK(parts_of_answer(text, 9).calls.empty());
    CHECK(parts_of_answer(text, 9).text == text);
  }
}

TEST_CASE("answers tell their calls, whole and streamed") {
  agents::Completion completion;
  completion.text = kTwoCalls;
  const Json choice = writer_with(9).choice(0, completion, {}, nullptr);
  CHECK(choice["finish_reason"] == "tool_calls");
  CHECK(choice["message"]["content"] == "I look.\n");
  CHECK(choice["message"]["tool_calls"][0]["function"].dump() ==
        R"({"name":"look_up","arguments":"{\"word\":\"b\",\"at\":2}"})");
  CHECK(choice["message"]["tool_calls"][1]["function"]["arguments"] == "{}");
  CHECK(writer_with(0).choice(0, completion, {}, nullptr)["finish_reason"] == "stop");

  const std::string event = writer_with(9).last_event(0, "\n", {}, 0, completion);
  const Json last = Json::parse(event.substr(event.find('{')))["choices"][0];
  CHECK(last["finish_reason"] == "tool_calls");
  CHECK(last["delta"]["content"] == "\n");
  CHECK(last["delta"]["tool_calls"][1]["index"] == 1);
  CHECK(last["delta"]["tool_calls"][1]["type"] == "function");

  completion.text = completion.text.substr(8);
  CHECK(writer_with(9).choice(0, completion, {}, nullptr)["message"]["content"].is_null());
  completion.finish_reason = agents::FinishReason::length;
  CHECK(writer_with(9).choice(0, completion, {}, nullptr)["finish_reason"] == "length");
}
