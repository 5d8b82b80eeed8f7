// tools/tool_format.h - tools as other programs describe and call them. One list of specs is printed as OpenAI, MCP and
// OpenEnv have it; calls are read from tags in a turn and from OpenAI's tool calls. What agon's own server reads from
// an answer is in serve/chat_tools.h.
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
// trimmed body as its argument. A tag inside the body of another is part of that body; one that is not closed calls
// nothing. At most kMostTagCalls of them.
inline constexpr std::size_t kMostTagCalls = 64;
std::vector<ToolCall> tag_calls(std::string_view turn, std::span<const ToolSpec> specs);
// The entries of an OpenAI message's "tool_calls". Arguments stay as they are, a text that may be broken JSON: a
// ToolSet reads it. Any other entry becomes a call of the tool "".
std::vector<ToolCall> openai_calls(const Json& tool_calls);

}  // namespace agon::tools
