#include "env/grading/gui_action_reply.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "core/json_parse.h"
#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/answer/word_list.h"
#include "env/grading/gui_call.h"

namespace agon::env {
namespace {

// AgentCPM-GUI's wait: {"duration": 3000} with at most a thought and a status.
bool is_pause(const SortedJson& json) {
  if (!json.contains("duration") || !json["duration"].is_number()) return false;
  constexpr std::string_view kBeside[] = {"duration", "thought", "STATUS"};
  for (const auto& [key, value] : json.items())
    if (!is_among(key, kBeside)) return false;
  return true;
}

// AgentCPM-GUI's actions: {"POINT": [500,300]}, {"POINT": [500,500], "to": "up"} (a movement of the finger),
// {"TYPE": "hello"}, {"PRESS": "BACK"}, {"STATUS": "finish"}.
std::optional<GuiAction> keyed_action(const SortedJson& json, GuiCallArguments arguments) {
  const auto text = [&](const char* key) {
    return json.contains(key) && json[key].is_string() ? std::optional(json[key].get<std::string>()) : std::nullopt;
  };
  if ((arguments.text = text("TYPE"))) return action_of(GuiCall::type, arguments);
  if (text("PRESS")) return action_of(GuiCall::press, arguments);
  if (text("STATUS") && *text("STATUS") != "continue") return action_of(GuiCall::status, arguments);
  if (is_pause(json)) return GuiAction{GuiActionType::wait};
  if (!json.contains("POINT")) return {};
  if (json.contains("to")) return action_of(GuiCall::swipe, arguments);
  return action_of(json.contains("duration") ? GuiCall::long_press : GuiCall::click, arguments);
}

std::optional<GuiAction> called_action(std::string_view line);

// The object with keys such as "Action" in lower case, and with arguments parsed if they are an object in a string.
SortedJson with_plain_keys(const SortedJson& json) {
  SortedJson plain = SortedJson::object();
  for (const auto& [key, value] : json.items()) {
    const bool title = key.size() > 1 && key[0] >= 'A' && key[0] <= 'Z' && key[1] >= 'a' && key[1] <= 'z';
    const std::string name = title ? ascii_lower(key) : key;
    plain[name] = value;
    if (name != "arguments" || !value.is_string()) continue;
    const ParsedJson parsed = parse_json(value.get<std::string>());
    if (parsed.fault.empty() && parsed.value.is_object()) plain[name] = parsed.value;
  }
  return plain;
}

std::optional<std::string> typed_text(const SortedJson& json) {
  for (const char* key : {"text", "content", "input_text", "app_name", "app", "value"})
    if (json.contains(key) && (json[key].is_string() || json[key].is_number()))
      return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
  return {};
}

// The arguments without reasons, whose words and places do not belong to the action.
std::string written_arguments(SortedJson json) {
  for (const char* key : {"thought", "thoughts", "thinking", "reason", "reasoning", "explanation", "observation",
                          "plan", "summary", "description", "reflection", "conclusion", "analysis"})
    json.erase(key);
  return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

// {"action": "click", "coordinate": [500,300]}: the last object that is an action, also within a call's arguments; of
// {"actions": [..]} the only one.
std::optional<GuiAction> action_of(const SortedJson& json, int depth) {
  if (depth > 4) return {};
  if (json.is_array()) {
    for (auto item = json.rbegin(); item != json.rend(); ++item)
      if (const auto action = action_of(*item, depth + 1)) return action;
    return {};
  }
  if (!json.is_object()) return {};
  const SortedJson plain = with_plain_keys(json);
  if (plain.contains("actions") && plain["actions"].is_array())
    return plain["actions"].size() == 1 ? action_of(plain["actions"], depth + 1) : std::nullopt;
  for (const char* key : {"arguments", "action_args", "args", "parameters", "action", "function_call"})
    if (plain.contains(key) && plain[key].is_object())
      if (const auto action = action_of(plain[key], depth + 1)) return action;
  const std::string written = written_arguments(plain);
  const GuiCallArguments arguments{written, typed_text(plain)};
  for (const char* key : {"action", "action_type", "type", "name", "function"}) {
    if (!plain.contains(key) || !plain[key].is_string()) continue;
    const std::string name = plain[key].get<std::string>();
    if (const auto call = gui_call_named(name))
      if (const auto action = action_of(*call, arguments)) return action;
    if (std::string_view(key) == "action")
      if (const auto action = called_action(name)) return action;
  }
  return keyed_action(json, arguments);
}

// Appends what Python writes outside of strings (None, True, False, tuples) as JSON. Returns the bytes read; 0: there
// is nothing of the kind.
std::size_t add_python_word(std::string_view rest, std::string& json) {
  for (const auto& [word, value] : {std::pair{"None", "null"}, std::pair{"True", "true"}, std::pair{"False", "false"},
                                    std::pair{"(", "["}, std::pair{")", "]"}})
    if (rest.starts_with(word)) {
      json += value;
      return std::string_view(word).size();
    }
  return 0;
}

// A Python list or dict, whose strings have single quotes, as JSON.
std::string with_double_quotes(std::string_view text) {
  std::string json;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote && c == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\'') json += c;
      json += text[++i];
    } else if (quote ? c == quote : c == '"' || c == '\'') {
      json += '"';
      quote = quote ? 0 : c;
    } else if (const std::size_t taken = quote ? 0 : add_python_word(text.substr(i), json)) {
      i += taken - 1;
    } else {
      if (quote == '\'' && c == '"') json += '\\';
      json += c;
    }
  }
  return json;
}

std::optional<GuiAction> json_action(std::string_view text) {
  const std::size_t begin = text.find_first_of("{["), end = text.find_last_of("}]");
  if (begin == text.npos || end == text.npos || end < begin || text.find('{') == text.npos) return {};
  ParsedJson parsed = parse_json(text.substr(begin, end - begin + 1));
  if (!parsed.fault.empty()) parsed = parse_json(with_double_quotes(text.substr(begin, end - begin + 1)));
  return parsed.fault.empty() ? action_of(parsed.value, 0) : std::nullopt;
}

// Does a text end here, or continue with a second argument: , 'enter' or , x=1?
bool ends_argument(std::string_view rest) {
  rest = trim(rest);
  if (rest.empty()) return true;
  if (rest.front() != ',') return false;
  rest = trim(rest.substr(1));
  std::size_t name = 0;
  while (name < rest.size() && name < 40 && (is_word_byte(rest[name]) || rest[name] == '_')) ++name;
  if (name == 0) return !rest.empty() && (rest.front() == '\'' || rest.front() == '"');
  return rest.substr(name).starts_with('=') && rest.size() > name + 1 && rest[name + 1] != ' ';
}

// Where the quote at the front of a text closes: at the first such quote that ends an argument, else at the last.
std::size_t closing_quote(std::string_view quoted) {
  for (std::size_t at = quoted.find(quoted[0], 1); at != quoted.npos; at = quoted.find(quoted[0], at + 1))
    if (quoted[at - 1] != '\\' && ends_argument(quoted.substr(at + 1, 60))) return at;
  return quoted.rfind(quoted[0]);
}

// The position of a name such as "text=" that is not the end of a longer one, such as "element_text=".
std::size_t argument_named(std::string_view written, std::string_view name) {
  std::size_t at = written.find(name, 1);
  while (at != written.npos && (is_word_byte(written[at - 1]) || written[at - 1] == '_'))
    at = written.find(name, at + 1);
  return at;
}

// The text after a name, content='...'; else the first text in quotes; else that in square brackets; else the whole.
std::string text_in(std::string_view written) {
  for (const std::string_view name : {"content=", "text=", "app_name=", "app="})
    if (const std::size_t at = argument_named(written, name); at != written.npos)
      return text_in(written.substr(at + name.size()));
  const std::size_t quote = written.find_first_of("'\"");
  if (quote != written.npos) {
    const std::size_t end = closing_quote(written.substr(quote));
    std::string text(written.substr(quote + 1, end > 0 ? end - 1 : written.npos));
    return replace_all(replace_all(replace_all(text, "\\n", "\n"), "\\'", "'"), "\\\"", "\"");
  }
  std::string_view inside = written;
  if (!unwrap(inside, "[", "]")) inside = trim(written);
  return std::string(inside);
}

// scroll down, type "hello", press back: calls without brackets.
bool stands_by_itself(GuiCall call, std::string_view rest) {
  if (call == GuiCall::type || call == GuiCall::open_app) return rest.starts_with('"') || rest.starts_with('\'');
  const std::string word = ascii_lower(rest.substr(0, std::min(rest.find_first_of(" .,\n"), rest.size())));
  if (call == GuiCall::press) return word == "back" || word == "home";
  return (call == GuiCall::scroll || call == GuiCall::swipe) &&
         (word == "up" || word == "down" || word == "left" || word == "right");
}

// do(action="Tap", element=[500,300]): the call that the first argument names, with the other arguments.
std::optional<GuiAction> named_call(std::string_view rest) {
  std::string_view arguments = rest;
  if (!unwrap(arguments, "(", ")") || !trim(arguments).starts_with("action=")) return {};
  arguments = trim(trim(arguments).substr(7));
  if (arguments.empty() || (arguments[0] != '"' && arguments[0] != '\'')) return {};
  const std::size_t end = arguments.find(arguments[0], 1);
  if (end == arguments.npos) return {};
  const auto call = gui_call_named(arguments.substr(1, end - 1));
  const std::string_view others = arguments.substr(end + 1);
  return call ? action_of(*call, {others, text_in(others)}) : std::nullopt;
}

// The position after the bracket that closes the one at the front of a text; the text's size if none does.
std::size_t behind_brackets(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

// Does a text begin with a call, perhaps after "or", "and", "then" and the like?
bool begins_with_call(std::string_view text) {
  constexpr std::string_view kLinks[] = {"or",   "and",  "then",     "alternatively", "maybe",
                                         "else", "next", "possibly", "finally"};
  std::string_view name;
  for (int i = 0; i < 4; ++i) {
    text = behind(text, " ,;/|&.\n");
    name = text.substr(0, text.find_first_of(" ([<,\n"));
    if (!is_among(ascii_lower(name.substr(0, 16)), kLinks)) break;
    text.remove_prefix(name.size());
  }
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return gui_call_named(last) && (gui_action_type(last) || text.substr(name.size()).starts_with('('));
}

// Does a second call follow the first: click(1,2); press_back(), click(1,2) or wait()?
bool holds_second_call(std::string_view rest) {
  if (const std::size_t point = rest.find("</point>"); point != rest.npos && !rest.starts_with('('))
    return begins_with_call(rest.substr(point + 8));
  if (rest.starts_with('(') && begins_with_call(rest.substr(behind_brackets(rest)))) return true;
  const std::size_t end = rest.find(';');
  return end != rest.npos && begins_with_call(rest.substr(end));
}

// The direction in the name of a call: scroll_down.
std::optional<Direction> direction_in_name(std::string_view name) {
  const std::string lower = ascii_lower(name.substr(0, 16));
  if (!lower.starts_with("scroll")) return {};
  const std::string_view rest = behind(std::string_view(lower).substr(6), "_");
  for (const auto& [word, direction] : kDirectionNames)
    if (rest == ascii_lower(word)) return direction;
  return {};
}

// A line without "Step 3:", "Action 1:", "1)" and the like before its action.
std::string_view without_step(std::string_view line) {
  constexpr std::string_view kSteps[] = {"step", "action", "\u6b65\u9aa4", "\u52a8\u4f5c", "\u64cd\u4f5c", "\u7b2c"};
  const std::string start = ascii_lower(line.substr(0, 16));
  const auto step = std::find_if(std::begin(kSteps), std::end(kSteps),
                                 [&](std::string_view word) { return start.starts_with(word); });
  if (step == std::end(kSteps)) return line;
  const std::string_view rest = behind(line.substr(step->size()), " ");
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view colon = behind(rest.substr(digits), " \u6b65");
  for (const std::string_view mark : {":", "\uff1a", ".", ")"})
    if (digits > 0 && digits < 4 && colon.starts_with(mark)) return trim(colon.substr(mark.size()));
  return line;
}

// OPEN_APP Clock, TYPE hello: OS-Atlas's names before a short text without brackets.
bool is_written_bare(std::string_view name, std::string_view rest) {
  const bool opens = ascii_lower(name) == "open_app";
  return (opens || name == "TYPE") && !rest.empty() && rest.size() < 100 && is_word_byte(rest[0]) &&
         rest.find_first_of("()[]=\n") == rest.npos;
}

bool has_typed_text(GuiCall call) { return call == GuiCall::type || call == GuiCall::open_app; }

GuiAction scroll_to(Direction direction) {
  GuiAction action{GuiActionType::scroll};
  action.direction = direction;
  return action;
}

// click(..), CLICK: .., click on (..). A name alone is an action only as OS-Atlas writes it.
std::optional<GuiAction> called_action(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" -*>0123456789.");
  if (start == line.npos) return {};
  line = without_step(trim(line.substr(start)));
  std::size_t end = 0;
  while (end < line.size() && end < 40 && (is_word_byte(line[end]) || line[end] == '_' || line[end] == '.')) ++end;
  if (end == line.size()) return {};
  const std::string_view name = line.substr(0, end), last = name.substr(name.rfind('.') + 1);
  const auto direction = direction_in_name(last);
  const bool types = last == "text" && trim(line.substr(end)).starts_with("(\"");  // AppAgent's
  const auto call = direction ? GuiCall::scroll : types ? GuiCall::type : gui_call_named(last);
  std::string_view rest = trim(line.substr(end));
  if (!call) return named_call(rest);
  const bool points = *call == GuiCall::click || *call == GuiCall::long_press, typed = has_typed_text(*call);
  if (!typed && holds_second_call(rest)) return {};
  if (direction) return rest.starts_with('(') ? std::optional(scroll_to(*direction)) : std::nullopt;
  if (rest.starts_with('(') && !points)
    rest = rest.substr(1, rest.rfind(')') == 0 || rest.rfind(')') == rest.npos ? rest.npos : rest.rfind(')') - 1);
  else if (rest.starts_with(':'))
    rest = trim(rest.substr(1));
  else if (!points && !rest.starts_with('[') && !stands_by_itself(*call, rest) && !is_written_bare(last, rest))
    return {};
  return action_of(*call, {rest, text_in(rest)});
}

// Where, in the line of `at` and before `at`, the text to type begins: content='..., ("...
std::size_t start_of_typed(std::string_view lower, std::size_t at) {
  const std::string_view before = lower.substr(0, at);
  const std::size_t line_break = before.rfind('\n'), line = line_break == before.npos ? 0 : line_break + 1;
  std::size_t first = before.npos;
  for (const std::string_view mark : {"='", "=\"", "('", "(\"", "type ["})
    first = std::min(first, before.find(mark, line));
  return first;
}

// Do the words before "action:" say that it is not the action taken now?
bool names_other_action(std::string_view lower) {
  constexpr std::string_view kOthers[] = {
      "previous",   "last",      "past",      "prior",       "earlier", "available", "possible",
      "allowed",    "valid",     "example",   "supported",   "history", "wrong",     "incorrect",
      "candidate",  "permitted", "old",       "executed",    "taken",   "completed", "potential",
      "historical", "legal",     "performed", "alternative", "former"};
  constexpr std::string_view kChinese[] = {
      "\u4e0a\u4e00\u6b65", "\u4e0a\u4e00\u4e2a",       "\u5386\u53f2",       "\u53ef\u7528",
      "\u4e4b\u524d",       "\u4e4b\u524d\u7684",       "\u53ef\u9009",       "\u524d\u4e00\u6b65",
      "\u53ef\u9009\u7684", "\u53ef\u7528\u7684",       "\u5148\u524d\u7684", "\u4e0a\u6b21",
      "\u4e0a\u6b21\u7684", "\u4e0a\u4e00\u6b65\u7684", "\u793a\u4f8b"};
  lower = trim(lower);
  if (ends_with_any(lower, kChinese)) return true;
  std::size_t begin = lower.size();
  while (begin > 0 && lower.size() - begin < 16 && is_word_byte(lower[begin - 1])) --begin;
  return is_among(lower.substr(begin), kOthers);
}

constexpr std::string_view kActionLabels[] = {"action:",
                                              "actions:",
                                              "action**:",
                                              "actions**:",
                                              "action:**",
                                              "actions:**",
                                              "grounded operation:",
                                              "\u52a8\u4f5c:",
                                              "\u52a8\u4f5c\uff1a",
                                              "\u64cd\u4f5c:",
                                              "\u64cd\u4f5c\uff1a",
                                              "\u884c\u52a8:",
                                              "\u884c\u52a8\uff1a"};

// The position after the last "action:" or the like outside of typed text; 0 without one.
std::size_t behind_label(std::string_view lower) {
  std::size_t begin = 0;
  for (const std::string_view label : kActionLabels) {
    std::size_t at = lower.rfind(label);
    while (at != lower.npos) {
      const bool within_word = at > 0 && is_parted(label) && is_word_byte(lower[at - 1]);
      const bool other = within_word || names_other_action(lower.substr(0, at));
      const std::size_t typed = other ? at : std::min(at, start_of_typed(lower, at));
      if (typed == at && !other) {
        begin = std::max(begin, at + label.size());
        break;
      }
      at = typed == 0 ? lower.npos : lower.rfind(label, typed - 1);
    }
  }
  return begin;
}

// "Action: BACK", "Action: DONE": a name alone is an action only after a label.
std::optional<GuiAction> labelled_name(std::string_view part) {
  if (part.ends_with('.')) part.remove_suffix(1);
  if (part.size() > 20 || part.find_first_of(" \n") != part.npos) return {};
  const auto call = gui_call_named(part);
  const bool alone = call == GuiCall::back || call == GuiCall::home || call == GuiCall::wait ||
                     call == GuiCall::complete || call == GuiCall::impossible;
  return alone ? action_of(*call, GuiCallArguments{}) : std::nullopt;
}

// The text without the lines below "Available actions:", "Previous actions:" and "History:", up to an empty line.
std::string without_other_actions(std::string_view part) {
  std::string kept;
  bool other = false;
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t end = std::min(part.find('\n', at), part.size() - 1) + 1;
    const std::string_view line = part.substr(at, end - at), said = trim(line);
    const std::string lower = ascii_lower(said.substr(said.size() - std::min<std::size_t>(said.size(), 40)));
    const bool history = lower.ends_with("history:") || lower.ends_with("history**:");
    const std::size_t label = lower.ends_with(':') ? lower.rfind("action") : lower.npos;
    at = end;
    if (said.empty()) other = false;
    if (history || (label != lower.npos && label + 11 > lower.size()))
      other = history || names_other_action(std::string_view(lower).substr(0, label));
    if (!other) kept += line;
  }
  return kept;
}

// How a call's tags are written.
struct Tags {
  std::string_view function, parameter;
  char end;  // of a name
};

// <function=click>, then <parameter=x>500</parameter> and the like.
std::optional<GuiAction> tagged_action(std::string_view text, const Tags& tags) {
  const std::size_t begin = text.rfind(tags.function);
  if (begin == text.npos) return {};
  text = text.substr(begin + tags.function.size());
  SortedJson json = {{"name", std::string(text.substr(0, std::min(text.find(tags.end), std::size_t{40})))}};
  std::size_t at = text.find(tags.parameter);
  for (int i = 0; i < 16 && at != text.npos; ++i, at = text.find(tags.parameter, at)) {
    at += tags.parameter.size();
    const std::size_t name_end = text.find(tags.end, at), value = text.find('>', at),
                      end = text.find("</parameter>", at);
    if (end == text.npos || value >= end || name_end > value) return {};
    json[std::string(text.substr(at, name_end - at))] = std::string(trim(text.substr(value + 1, end - value - 1)));
  }
  return action_of(json, 0);
}

std::optional<GuiAction> tagged_action(std::string_view text) {
  for (const Tags& tags : {Tags{"<function=", "<parameter=", '>'}, Tags{"<invoke name=\"", "<parameter name=\"", '"'}})
    if (const auto action = tagged_action(text, tags)) return action;
  return {};
}

// "CLICK", then lines that say the rest: "Point: (500, 300)", "direction: down".
std::optional<GuiAction> spread_action(std::string_view part) {
  const std::size_t end = part.find('\n');
  const auto call = end == part.npos ? std::nullopt : gui_call_named(trim(part.substr(0, end)));
  if (!call) return {};
  const std::string_view rest = trim(part.substr(end));
  const std::size_t colon = rest.find(':');
  if (colon > 20 || static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')) > 2) return {};
  return action_of(*call, {rest, std::string(trim(rest.substr(colon + 1, rest.find('\n') - colon - 1)))});
}

}  // namespace

std::optional<GuiAction> read_gui_action(std::string_view reply) {
  if (const auto action = parse_gui_action(reply)) return action;
  const std::string lower = ascii_lower(reply);
  const std::size_t tag = lower.rfind("<answer>");
  const std::size_t begin = tag == lower.npos ? 0 : tag + 8;
  const std::size_t end = tag == lower.npos ? reply.size() : std::min(lower.find("</answer>", begin), reply.size());
  const std::string_view said = reply.substr(begin, end - begin);
  const std::size_t label = behind_label(std::string_view(lower).substr(begin, end - begin));
  const std::string_view labelled = trim(said.substr(label));
  if (const auto action = parse_gui_action(labelled)) return action;
  if (const auto action = label > 0 ? labelled_name(labelled) : std::nullopt) return action;
  const std::string own = without_other_actions(labelled);
  const std::string_view part = trim(own);
  if (const auto action = json_action(part)) return action;
  if (const auto action = tagged_action(part)) return action;
  if (const auto action = spread_action(part)) return action;
  for (std::size_t line_end = part.size(); line_end > 0;) {
    const std::size_t line_break = part.rfind('\n', line_end - 1);
    const std::size_t line_begin = line_break == part.npos ? 0 : line_break + 1;
    std::string_view line = trim(part.substr(line_begin, line_end - line_begin));
    if (unwrap(line, "<action>", "</action>")) line = trim(line);
    const std::string_view bare = line.ends_with('.') ? line.substr(0, line.size() - 1) : line;
    if (const auto action = parse_gui_action(bare)) return action;
    if (const auto action = called_action(line)) return action;
    line_end = line_break == part.npos ? 0 : line_break;
  }
  return {};
}

}  // namespace agon::env
