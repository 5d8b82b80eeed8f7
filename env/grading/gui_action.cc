#include "env/grading/gui_action.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "core/text.h"
#include "env/grading/answer/text.h"
#include "env/grading/box_text.h"

namespace agon::env {
namespace {

constexpr std::array<std::pair<std::string_view, GuiActionType>, 10> kNames = {{
    {"CLICK", GuiActionType::click},
    {"LONG_PRESS", GuiActionType::long_press},
    {"SCROLL", GuiActionType::scroll},
    {"TYPE", GuiActionType::type},
    {"OPEN_APP", GuiActionType::open_app},
    {"PRESS_BACK", GuiActionType::press_back},
    {"PRESS_HOME", GuiActionType::press_home},
    {"WAIT", GuiActionType::wait},
    {"COMPLETE", GuiActionType::complete},
    {"IMPOSSIBLE", GuiActionType::impossible},
}};

template <typename Table>
auto value_of(const Table& table, std::string_view name) -> std::optional<decltype(table[0].second)> {
  for (const auto& [known, value] : table)
    if (known == name) return value;
  return {};
}
template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [name, known] : table)
    if (known == value) return name;
  return {};
}

bool has_point(GuiActionType type) { return type == GuiActionType::click || type == GuiActionType::long_press; }
bool has_text(GuiActionType type) { return type == GuiActionType::type || type == GuiActionType::open_app; }

std::optional<double> parse_coordinate(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !(std::abs(value) <= kLargestCoordinate)) return {};
  return value;
}

bool parse_point(std::string_view text, GuiAction& action) {
  if (!unwrap(text, "<point>", "</point>") || !unwrap(text, "[", "]") || !unwrap(text, "[", "]")) return false;
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return false;
  const auto x = parse_coordinate(text.substr(0, comma)), y = parse_coordinate(text.substr(comma + 1));
  if (!x || !y) return false;
  action.x = *x;
  action.y = *y;
  return true;
}

bool parse_arguments(std::string_view text, GuiAction& action) {
  if (has_point(action.type)) return parse_point(text, action);
  if (action.type != GuiActionType::scroll && !has_text(action.type)) return trim(text).empty();
  if (!unwrap(text, "[", "]")) return false;
  if (has_text(action.type)) {
    action.text = text;
    return true;
  }
  const auto direction = value_of(kDirectionNames, trim(text));
  action.direction = direction.value_or(Direction::up);
  return direction.has_value();
}

// F1 of the sets of lower-case words, as in the evaluation of OS-Atlas.
double word_set_f1(std::string_view predicted, std::string_view gold) {
  const auto set_of = [](std::string_view text) {
    const std::vector<std::string> words = split_words(to_lower(text));
    return std::set<std::string>(words.begin(), words.end());
  };
  const std::set<std::string> ours = set_of(predicted), theirs = set_of(gold);
  double common = 0;
  for (const std::string& word : ours) common += static_cast<double>(theirs.count(word));
  return common > 0 ? 2 * common / static_cast<double>(ours.size() + theirs.size()) : 0;
}

}  // namespace

std::optional<GuiActionType> gui_action_type(std::string_view name) { return value_of(kNames, name); }

std::optional<GuiAction> parse_gui_action(std::string_view text) {
  text = trim(text);
  if (unwrap(text, "<answer>", "</answer>")) text = trim(text);
  const std::size_t end = text.find_first_of(" \t\r\n[<");
  const auto type = gui_action_type(text.substr(0, end));
  if (!type) return {};
  GuiAction action{*type};
  if (!parse_arguments(end == text.npos ? std::string_view() : text.substr(end), action)) return {};
  return action;
}

std::string format_gui_action(const GuiAction& action) {
  const std::string_view name = name_in(kNames, action.type);
  if (has_point(action.type)) return fmt::format("{} <point>[[{:.0f},{:.0f}]]</point>", name, action.x, action.y);
  if (has_text(action.type)) return fmt::format("{} [{}]", name, action.text);
  if (action.type == GuiActionType::scroll)
    return fmt::format("{} [{}]", name, name_in(kDirectionNames, action.direction));
  return std::string(name);
}

GuiMatch match_gui_action(const GuiAction& predicted, const GuiAction& gold, double max_distance) {
  GuiMatch match;
  match.type = predicted.type == gold.type;
  if (!match.type) return match;
  if (has_point(gold.type)) {
    match.success = std::hypot(predicted.x - gold.x, predicted.y - gold.y) <= max_distance * 1000;
    if (gold.type == GuiActionType::click) match.grounding = match.success;
  } else if (has_text(gold.type)) {
    match.success = predicted.text == gold.text || word_set_f1(predicted.text, gold.text) > 0.5;
  } else {
    match.success = gold.type != GuiActionType::scroll || predicted.direction == gold.direction;
  }
  return match;
}

}  // namespace agon::env
