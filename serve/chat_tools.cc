#include "serve/chat_tools.h"

#include <algorithm>

#include "core/json_parse.h"
#include "core/rng.h"
#include "core/text.h"

namespace agon::serve {
namespace {

using agents::ChatInputs;

constexpr std::string_view kCallEnd = "</tool_call>";

// The value of one key of an object, with its keys in the order written. The rest of the text is not kept. If the key
// occurs twice, only its last value was checked, so all its values together must be small.
Json in_order(std::string_view object, const std::string& key) {
  bool within = false;
  std::size_t events = 0;
  std::vector<std::size_t> keys;  // counts, one per open object within the value
  const auto keeps = [&](int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth == 1 && event == Event::key) {
      keys.clear();
      return within = parsed == key;
    }
    if (!within) return true;
    if (event == Event::object_start) keys.push_back(0);
    if (event == Event::object_end && !keys.empty()) keys.pop_back();
    const bool many = event == Event::key && !keys.empty() && ++keys.back() > kMostToolKeys;
    if (many || ++events > kMostToolBytes) throw refused(key, fmt::format("'{}' is given more than once.", key));
    return true;
  };
  Json json = Json::parse(object, keeps, false);
  return json.is_object() && json.contains(key) ? std::move(json[key]) : Json();
}

bool has_few_keys(const SortedJson& json) {
  if (json.is_object() && json.size() > kMostToolKeys) return false;
  return !json.is_structured() || std::all_of(json.begin(), json.end(), has_few_keys);
}

// Checks the size, since an ordered object takes quadratic time to fill.
void require_small(const SortedJson& json, const std::string& name) {
  if (to_text(json).size() > kMostToolBytes || !has_few_keys(json))
    throw refused(name, fmt::format("'{}' has more than {} bytes, or an object of more than {} keys.", name,
                                    kMostToolBytes, kMostToolKeys));
}

const SortedJson& function_of(const SortedJson& tool, const std::string& name) {
  if (!tool.is_object() || text_or_empty(tool, "type") != "function" || !tool.contains("function") ||
      !tool.at("function").is_object() || text_or_empty(tool.at("function"), "name").empty())
    throw refused(name, fmt::format("'{}' is {}, not {{\"type\": \"function\", \"function\": {{\"name\": ...}}}}.",
                                    name, shown(tool)));
  return tool.at("function");
}

void check_tools(const SortedJson& tools) {
  if (!tools.is_array()) throw refused("tools", fmt::format("'tools' is {}, not a list.", shown(tools)));
  require_small(tools, "tools");
  for (std::size_t i = 0; i < tools.size(); ++i) function_of(tools[i], fmt::format("tools[{}]", i));
}

// "auto" (true) or "none" (false).
bool read_choice(const SortedJson& choice, bool has_tools) {
  if (choice.is_null() || choice == "none" || choice == "auto") return choice != "none";
  if (choice.is_string() && choice.get_ref<const std::string&>().empty()) return true;
  if (!has_tools)
    throw refused("tool_choice", fmt::format("'tool_choice' is {}, and there are no 'tools'.", shown(choice)));
  throw Refused{{400,
                 fmt::format("'tool_choice' is {}: this server does not constrain what the model writes. Use "
                             "\"auto\", and say in the prompt which tool to call.",
                             shown(choice)),
                 "unsupported_parameter", "tool_choice"}};
}

std::string new_call_id() { return fmt::format("call_{:016x}{:016x}", fresh_seed(), fresh_seed()); }

// Arguments of a message are JSON in a string; some clients send the object itself.
Json arguments_of(const SortedJson& given, const std::string& name) {
  if (!given.is_string()) {
    require_small(given, name);
    return Json(given);
  }
  const std::string& text = given.get_ref<const std::string&>();
  if (trim(text).empty()) return Json::object();
  if (text.size() > kMostToolBytes)
    throw refused(name, fmt::format("'{}' has {} bytes; at most {} are possible.", name, text.size(), kMostToolBytes));
  Json json = json_or_discarded(text);
  return json.is_discarded() ? Json(text) : json;
}

// The call that a block holds; without a name if the block is not the JSON of a call.
ToolCall call_of(std::string_view block) {
  const Json json = json_or_discarded(trim(block));
  if (!json.is_object() || !json.contains("arguments")) return {};
  return {new_call_id(), text_or_empty(json, "name"), json.at("arguments")};
}

}  // namespace

ChatInputs read_template_inputs(const RequestFields& fields, std::string_view body) {
  ChatInputs inputs;
  const SortedJson& tools = fields.at("tools");
  const bool has_tools = !(tools.is_null() || (tools.is_array() && tools.empty()));
  const bool offers = read_choice(fields.at("tool_choice"), has_tools);
  if (has_tools) check_tools(tools);
  if (has_tools && offers) inputs.tools = in_order(body, "tools");
  const SortedJson& variables = fields.at("chat_template_kwargs");
  if (variables.is_null()) return inputs;
  if (!variables.is_object())
    throw refused("chat_template_kwargs",
                  fmt::format("'chat_template_kwargs' is {}, not an object.", shown(variables)));
  require_small(variables, "chat_template_kwargs");
  for (const char* own : {"messages", "tools", "documents", "add_generation_prompt"})
    if (variables.contains(own))
      throw refused("chat_template_kwargs",
                    fmt::format("'chat_template_kwargs' holds '{}', a key of the request.", own));
  inputs.variables = in_order(body, "chat_template_kwargs");
  return inputs;
}

std::size_t read_most_calls(const RequestFields& fields, const ChatInputs& inputs) {
  const bool several = fields.flag("parallel_tool_calls", true);
  return inputs.tools.is_null() ? 0 : several ? kMostToolKeys : 1;
}

std::vector<ToolCall> read_tool_calls(const SortedJson& list, const std::string& name) {
  if (!list.is_array()) throw refused(name, fmt::format("'{}' is {}, not a list.", name, shown(list)));
  std::vector<ToolCall> calls;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("{}[{}]", name, i);
    const SortedJson& function = function_of(list[i], place);
    const bool has = function.contains("arguments") && !function.at("arguments").is_null();
    calls.push_back({text_or_empty(list[i], "id"), function.at("name"),
                     has ? arguments_of(function.at("arguments"), place + ".function.arguments") : Json::object()});
  }
  return calls;
}

AnswerParts parts_of_answer(std::string_view answer, std::size_t most_calls) {
  AnswerParts parts{std::string(answer), {}};
  if (most_calls == 0) return parts;
  const std::size_t first = answer.find(kCallMark);
  std::vector<ToolCall> calls;
  for (std::size_t at = first; at != std::string_view::npos && calls.size() < most_calls;) {
    const std::size_t begin = at + kCallMark.size();
    const std::size_t end = std::min(answer.find(kCallEnd, begin), answer.size());
    calls.push_back(call_of(answer.substr(begin, end - begin)));
    if (calls.back().name.empty()) return parts;
    at = answer.find(kCallMark, end);
  }
  if (!calls.empty()) parts = {std::string(answer.substr(0, first)), std::move(calls)};
  return parts;
}

Json tool_calls_json(const std::vector<ToolCall>& calls, bool is_event) {
  Json list = Json::array();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Json& one = list.emplace_back();
    if (is_event) one["index"] = i;
    one["id"] = calls[i].id;
    one["type"] = "function";
    const Json& arguments = calls[i].arguments;
    one["function"] = {{"name", calls[i].name},
                       {"arguments", arguments.is_string() ? arguments.get<std::string>() : to_text(arguments)}};
  }
  return list;
}

}  // namespace agon::serve
