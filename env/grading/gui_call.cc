#include "env/grading/gui_call.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "env/grading/answer/text.h"
#include "env/grading/box_text.h"

namespace agon::env {
namespace {

// Names in lower case without signs.
constexpr std::pair<std::string_view, GuiCall> kCalls[] = {{"click", GuiCall::click},
                                                           {"tap", GuiCall::click},
                                                           {"leftclick", GuiCall::click},
                                                           {"leftsingle", GuiCall::click},
                                                           {"clickelement", GuiCall::click},
                                                           {"longpress", GuiCall::long_press},
                                                           {"longclick", GuiCall::long_press},
                                                           {"longtap", GuiCall::long_press},
                                                           {"scroll", GuiCall::scroll},
                                                           {"swipe", GuiCall::swipe},
                                                           {"drag", GuiCall::swipe},
                                                           {"slide", GuiCall::swipe},
                                                           {"type", GuiCall::type},
                                                           {"inputtext", GuiCall::type},
                                                           {"input", GuiCall::type},
                                                           {"write", GuiCall::type},
                                                           {"typewrite", GuiCall::type},
                                                           {"typetext", GuiCall::type},
                                                           {"entertext", GuiCall::type},
                                                           {"openapp", GuiCall::open_app},
                                                           {"open", GuiCall::open_app},
                                                           {"launch", GuiCall::open_app},
                                                           {"launchapp", GuiCall::open_app},
                                                           {"pressback", GuiCall::back},
                                                           {"back", GuiCall::back},
                                                           {"navigateback", GuiCall::back},
                                                           {"goback", GuiCall::back},
                                                           {"presshome", GuiCall::home},
                                                           {"home", GuiCall::home},
                                                           {"navigatehome", GuiCall::home},
                                                           {"gohome", GuiCall::home},
                                                           {"wait", GuiCall::wait},
                                                           {"sleep", GuiCall::wait},
                                                           {"complete", GuiCall::complete},
                                                           {"finished", GuiCall::complete},
                                                           {"finish", GuiCall::complete},
                                                           {"done", GuiCall::complete},
                                                           {"taskcomplete", GuiCall::complete},
                                                           {"impossible", GuiCall::impossible},
                                                           {"infeasible", GuiCall::impossible},
                                                           {"press", GuiCall::press},
                                                           {"presskey", GuiCall::press},
                                                           {"systembutton", GuiCall::press},
                                                           {"keyevent", GuiCall::press},
                                                           {"key", GuiCall::press},
                                                           {"hotkey", GuiCall::press},
                                                           {"navigate", GuiCall::press},
                                                           {"keypress", GuiCall::press},
                                                           {"end", GuiCall::complete},
                                                           {"terminate", GuiCall::status},
                                                           {"status", GuiCall::status}};

bool has_word(std::string_view lower, std::string_view word) {
  for (std::size_t at = lower.find(word); at != lower.npos; at = lower.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_byte(lower[at - 1])) && (end == lower.size() || !is_word_byte(lower[end]))) return true;
  }
  return false;
}

// button='right', "button": "middle": not an action that agon knows.
bool names_other_button(std::string_view written) {
  const std::string lower = ascii_lower(written);
  for (std::size_t at = lower.find("button"); at != lower.npos; at = lower.find("button", at + 1)) {
    const std::size_t value = lower.find_first_not_of("\"'=: ", at + 6);
    const std::string_view rest = std::string_view(lower).substr(std::min(value, lower.size()));
    if (value > at + 6 && (rest.starts_with("right") || rest.starts_with("middle"))) return true;
  }
  return false;
}

// The number after a name such as "scroll_y"; 0 without one.
double number_named(std::string_view lower, std::string_view name) {
  const std::size_t at = lower.find(name);
  if (at == lower.npos) return 0;
  const std::size_t begin = std::min(lower.find_first_not_of("\"'=: ", at + name.size()), lower.size());
  double value = 0;
  std::from_chars(lower.data() + begin, lower.data() + lower.size(), value);
  return value;
}

// scroll_y, scroll_x: how far the page moves down, and to the right.
std::optional<Direction> scrolled_direction(std::string_view lower) {
  const double down = number_named(lower, "scroll_y"), right = number_named(lower, "scroll_x");
  if (down != 0) return down > 0 ? Direction::down : Direction::up;
  if (right != 0) return right > 0 ? Direction::right : Direction::left;
  return {};
}

bool add_place(std::string_view written, GuiAction& action) {
  const std::optional<Box> place = parse_place(written);
  if (!place) return false;
  action.x = (place->x1 + place->x2) / 2;
  action.y = (place->y1 + place->y2) / 2;
  return true;
}

std::vector<Direction> named_directions(std::string_view lower) {
  std::vector<Direction> named;
  for (const auto& [name, direction] : kDirectionNames)
    if (has_word(lower, ascii_lower(name))) named.push_back(direction);
  return named;
}

bool add_direction(std::string_view written, GuiAction& action) {
  const std::string lower = ascii_lower(written);
  const std::vector<Direction> named = named_directions(lower);
  if (named.size() > 1) return false;
  std::optional<Direction> found;
  if (!named.empty())
    found = named.front();
  else if (lower.find("scroll_") != lower.npos)
    found = scrolled_direction(lower);
  else if (lower.find_first_of("0123456789") != lower.npos)  // pyautogui.scroll(-500)
    found = lower.find('-') != lower.npos ? Direction::down : Direction::up;
  action.direction = found.value_or(Direction::up);
  return found.has_value();
}

Direction opposite(Direction direction) {
  switch (direction) {
    case Direction::up:
      return Direction::down;
    case Direction::down:
      return Direction::up;
    case Direction::left:
      return Direction::right;
    case Direction::right:
      return Direction::left;
  }
  return direction;
}

// The numbers of a text that are not part of a name, such as "x1"; at most five.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < text.size() && numbers.size() < 5;) {
    double value = 0;
    const bool name = at > 0 && (is_word_byte(text[at - 1]) || text[at - 1] == '_');
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    const bool number = !name && code == std::errc() && std::abs(value) <= kLargestCoordinate &&
                        std::string_view("-0123456789").find(text[at]) != std::string_view::npos;
    if (number) numbers.push_back(value);
    at = number ? static_cast<std::size_t>(end - text.data()) : at + 1;
  }
  return numbers;
}

// swipe(500, 800, 500, 300), "coordinate": [500,800], "coordinate2": [500,300]: where the finger goes.
std::optional<Direction> swiped_direction(std::string_view lower) {
  std::vector<double> ends = numbers_in(lower);
  if (ends.size() < 4) return {};
  const bool sides = lower.find("x2") < lower.find("y1") && lower.find("x1") != lower.npos;
  if (sides) std::swap(ends[1], ends[2]);
  const std::size_t start = lower.find("start"), end = lower.find("end");
  const bool backwards = start != lower.npos && end < start;
  const double sign = backwards ? -1 : 1, right = sign * (ends[2] - ends[0]), down = sign * (ends[3] - ends[1]);
  if (right == 0 && down == 0) return {};
  if (std::abs(down) >= std::abs(right)) return down > 0 ? Direction::down : Direction::up;
  return right > 0 ? Direction::right : Direction::left;
}

bool add_swipe(std::string_view lower, GuiAction& action) {
  const std::vector<Direction> named = named_directions(lower);
  const auto swiped = swiped_direction(lower);
  if (!swiped && named.size() != 1) return false;
  action.direction = opposite(swiped ? *swiped : named.front());
  return true;
}

}  // namespace

std::optional<GuiCall> gui_call_named(std::string_view text) {
  std::string name;
  for (const char c : ascii_lower(text.substr(0, 32)))
    if (c != '_' && c != '-' && c != ' ') name += c;
  for (const auto& [known, call] : kCalls)
    if (known == name) return call;
  return {};
}

std::optional<GuiAction> action_of(GuiCall call, const GuiCallArguments& arguments) {
  GuiAction action;
  const std::string lower = ascii_lower(arguments.written.substr(0, 200));
  switch (call) {
    case GuiCall::click:
    case GuiCall::long_press:
      action.type = call == GuiCall::click ? GuiActionType::click : GuiActionType::long_press;
      if (names_other_button(arguments.written)) return {};
      return add_place(arguments.written, action) ? std::optional(action) : std::nullopt;
    case GuiCall::scroll:
      action.type = GuiActionType::scroll;
      return add_direction(arguments.written, action) ? std::optional(action) : std::nullopt;
    case GuiCall::swipe:
      action.type = GuiActionType::scroll;
      return add_swipe(lower, action) ? std::optional(action) : std::nullopt;
    case GuiCall::type:
    case GuiCall::open_app:
      action.type = call == GuiCall::type ? GuiActionType::type : GuiActionType::open_app;
      if (!arguments.text) return {};
      action.text = *arguments.text;
      return action;
    case GuiCall::press:
      if (has_word(lower, "back") && has_word(lower, "home")) return {};
      if (has_word(lower, "back")) return GuiAction{GuiActionType::press_back};
      if (has_word(lower, "home")) return GuiAction{GuiActionType::press_home};
      return {};
    case GuiCall::status:
      for (const char* word : {"fail", "failure", "failed", "infeasible", "impossible"})
        if (has_word(lower, word)) return GuiAction{GuiActionType::impossible};
      return GuiAction{GuiActionType::complete};
    case GuiCall::back:
      return GuiAction{GuiActionType::press_back};
    case GuiCall::home:
      return GuiAction{GuiActionType::press_home};
    case GuiCall::wait:
      return GuiAction{GuiActionType::wait};
    case GuiCall::complete:
      return GuiAction{GuiActionType::complete};
    case GuiCall::impossible:
      return GuiAction{GuiActionType::impossible};
  }
  return {};
}

}  // namespace agon::env
