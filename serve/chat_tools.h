// serve/chat_tools.h - tool calling in OpenAI's format. The tools that a request offers go to the chat template. Calls
// are read from the model's answer in the format of Qwen and Hermes: <tool_call>{"name": ..., "arguments":
// {...}}</tool_call>.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/chat_template.h"
#include "core/json.h"
#include "core/message.h"
#include "serve/request_fields.h"

namespace agon::serve {

inline constexpr std::string_view kCallMark = "<tool_call>";
inline constexpr std::size_t kMostToolBytes = 256 << 10, kMostToolKeys = 1000;  // keys: per object

// The template's inputs from "tools" and "chat_template_kwargs"; "tool_choice": "none" leaves the tools out. fields:
// the keys of `body`, whose order is kept. Throws Refused, also for a tool choice that would constrain what the model
// writes.
agents::ChatInputs read_template_inputs(const RequestFields& fields, std::string_view body);
// The most calls that an answer may make: 0 without tools, 1 with "parallel_tool_calls": false. Throws Refused.
std::size_t read_most_calls(const RequestFields& fields, const agents::ChatInputs& inputs);

// Reads "tool_calls" of an assistant's message; arguments that are JSON are parsed. Throws Refused.
std::vector<ToolCall> read_tool_calls(const SortedJson& list, const std::string& name);

// An answer split into text and tool calls. If a call is not complete JSON with a name and arguments, the whole answer
// is text.
struct AnswerParts {
  std::string text;  // up to the first call
  std::vector<ToolCall> calls;
};
AnswerParts parts_of_answer(std::string_view answer, std::size_t most_calls);

// The "tool_calls" of a message or, each with its index, of an event. Arguments are JSON in a string.
Json tool_calls_json(const std::vector<ToolCall>& calls, bool is_event);

}  // namespace agon::serve
