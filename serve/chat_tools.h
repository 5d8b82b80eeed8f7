// serve/chat_tools.h - tools of a chat, in OpenAI's form: those that a request offers go to the chat template, and the
// calls that a model writes as Qwen and Hermes do, <tool_call>{"name": ..., "arguments": {...}}</tool_call>, are read
// from its answer.
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
inline constexpr std::size_t kMostToolBytes = 256 << 10, kMostToolKeys = 1000;  // keys: of one object

// The template's inputs from "tools" and "chat_template_kwargs"; no tools with "tool_choice": "none". `fields` are
// those of `body`, whose order the keys keep. Throws Refused, also for a choice that would constrain what the model
// writes.
agents::ChatInputs read_template_inputs(const RequestFields& fields, std::string_view body);
// How many calls an answer may make: none without tools, one with "parallel_tool_calls": false. Throws Refused.
std::size_t read_most_calls(const RequestFields& fields, const agents::ChatInputs& inputs);

// "tool_calls" of an assistant's message; arguments are parsed where they are JSON. Throws Refused.
std::vector<ToolCall> read_tool_calls(const SortedJson& list, const std::string& name);

// What an answer says and what it calls. An answer with a call that is not JSON, has no name or breaks off calls
// nothing: all of it is text.
struct AnswerParts {
  std::string text;  // up to the first call
  std::vector<ToolCall> calls;
};
AnswerParts parts_of_answer(std::string_view answer, std::size_t most_calls);

// As "tool_calls" of a message, or with their index, of an event. Arguments are JSON in a text.
Json tool_calls_json(const std::vector<ToolCall>& calls, bool is_event);

}  // namespace agon::serve
