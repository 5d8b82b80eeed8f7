#include "tools/tool_format.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/json_parse.h"
#include "core/text.h"

namespace agon::tools {
namespace {

template <typename Entry>
Json listed(std::span<const ToolSpec> specs, Entry entry) {
  Json list = Json::array();
  for (const ToolSpec& spec : specs) list.push_back(entry(spec));
  return list;
}

struct TagSpan {
  std::size_t begin, body, body_end, end;  // of <tag>body</tag>
  const ToolSpec* spec;
};

// The first closed tag of `spec` from `from` on.
std::optional<TagSpan> find_tag(std::string_view turn, std::size_t from, const ToolSpec& spec) {
  const std::string open = "<" + spec.tag + ">", close = "</" + spec.tag + ">";
  const std::size_t begin = turn.find(open, from);
  if (begin == std::string_view::npos) return {};
  const std::size_t body = begin + open.size(), body_end = turn.find(close, body);
  if (body_end == std::string_view::npos) return {};
  return TagSpan{begin, body, body_end, body_end + close.size(), &spec};
}

std::optional<TagSpan> first_tag(std::string_view turn, std::size_t from, std::span<const ToolSpec> specs) {
  std::optional<TagSpan> first;
  for (const ToolSpec& spec : specs) {
    if (spec.tag.empty()) continue;
    const auto found = find_tag(turn, from, spec);
    if (found && (!first || found->begin < first->begin)) first = found;
  }
  return first;
}

}  // namespace

Json openai_tools(std::span<const ToolSpec> specs) {
  return listed(specs, [](const ToolSpec& spec) {
    return Json{{"type", "function"},
                {"function", {{"name", spec.name}, {"description", spec.description}, {"parameters", spec.schema}}}};
  });
}

Json mcp_tools(std::span<const ToolSpec> specs) {
  return {{"tools", listed(specs, [](const ToolSpec& spec) {
             return Json{{"name", spec.name},
                         {"description", spec.description},
                         {"inputSchema", spec.schema},
                         {"annotations", {{"idempotentHint", spec.idempotent}}}};
           })}};
}

Json openenv_tools(std::span<const ToolSpec> specs) {
  return {{"tools", listed(specs, [](const ToolSpec& spec) {
             return Json{{"name", spec.name}, {"description", spec.description}, {"input_schema", spec.schema}};
           })}};
}

std::vector<ToolCall> tag_calls(std::string_view turn, std::span<const ToolSpec> specs) {
  std::vector<ToolCall> calls;
  std::size_t from = 0;
  while (calls.size() < kMostTagCalls) {
    const auto tag = first_tag(turn, from, specs);
    if (!tag) break;
    const std::string body(trim(turn.substr(tag->body, tag->body_end - tag->body)));
    calls.push_back({"", tag->spec->name, Json{{tag->spec->tag_argument, body}}});
    from = tag->end;
  }
  return calls;
}

std::vector<ToolCall> openai_calls(const Json& tool_calls) {
  std::vector<ToolCall> calls;
  for (const Json& entry : tool_calls.is_array() ? tool_calls : Json::array()) {
    const Json function = entry.is_object() ? entry.value("function", Json::object()) : Json::object();
    const Json arguments = function.is_object() ? function.value("arguments", Json::object()) : Json::object();
    calls.push_back({text_or_empty(entry, "id"), text_or_empty(function, "name"), arguments});
  }
  return calls;
}

}  // namespace agon::tools
