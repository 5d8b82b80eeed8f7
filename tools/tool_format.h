// tools/tool_format.h - converts tools to and from the formats of other programs: writes a list of specs in the formats
// of OpenAI, MCP and OpenEnv, and reads calls from tags in a turn and from OpenAI's tool calls. For agon's own server,
// serve/chat_tools.h reads the calls in an answer.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "tools/tool.h"

namespace agon::tools {

// The value of "tools" of a chat completion: [{"type": "function", "function": {name, description, parameters}}].
Json openai_tools(std::span<const ToolSpec> specs);
// The result of MCP's tools/list: {"tools": [{name, description, inputSchema, annotations}]}.
Json mcp_tools(std::span<const ToolSpec> specs);
// OpenEnv's answer to list_tools: {"tools": [{name, description, input_schema}]}.
Json openenv_tools(std::span<const ToolSpec> specs);

// The calls that a turn makes by tags, in order: <search>text</search> calls the tool whose tag is "search" with the
// trimmed body as its argument. A tag inside the body of another is part of that body; an unclosed tag calls nothing.
// Returns at most kMostTagCalls calls.
inline constexpr std::size_t kMostTagCalls = 64;
std::vector<ToolCall> tag_calls(std::string_view turn, std::span<const ToolSpec> specs);
// The calls of an OpenAI message's "tool_calls". Arguments stay as they are, a text that may be broken JSON; a ToolSet
// parses it. An entry of another form becomes a call of the tool "".
std::vector<ToolCall> openai_calls(const Json& tool_calls);

}  // namespace agon::tools
