// env/grading/gui_action.h - the GUI action language of OS-Atlas: CLICK <point>[[x,y]]</point>, LONG_PRESS <point>...,
// SCROLL [UP], TYPE [text], OPEN_APP [name], PRESS_BACK, PRESS_HOME, WAIT, COMPLETE, IMPOSSIBLE; coordinates 0-1000 of
// the screen.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agon::env {

enum class GuiActionType {
  click,
  long_press,
  scroll,
  type,
  open_app,
  press_back,
  press_home,
  wait,
  complete,
  impossible
};
enum class Direction { up, down, left, right };
inline constexpr std::array<std::pair<std::string_view, Direction>, 4> kDirectionNames = {{
    {"UP", Direction::up},
    {"DOWN", Direction::down},
    {"LEFT", Direction::left},
    {"RIGHT", Direction::right},
}};

struct GuiAction {
  GuiActionType type = GuiActionType::wait;
  double x = 0, y = 0;                  // click, long_press
  Direction direction = Direction::up;  // scroll
  std::string text;                     // type, open_app
  bool operator==(const GuiAction&) const = default;
};

std::optional<GuiActionType> gui_action_type(std::string_view name);  // "CLICK"
// Reads one action; surrounding white space and an <answer> around it are allowed, anything else is not an action.
// Coordinates off the screen are not clipped; texts may hold brackets and line breaks.
std::optional<GuiAction> parse_gui_action(std::string_view text);
std::string format_gui_action(const GuiAction& action);  // parse(format(a)) == a for whole coordinates

struct GuiMatch {
  bool type = false, success = false;  // same type; same type and arguments
  std::optional<bool> grounding;       // only if both are CLICK: within the distance
};
// Step match of a prediction against gold. CLICK and LONG_PRESS: within max_distance, a share of the screen (0.14 in
// OS-Atlas, 0.04 in AgentCPM-GUI). TYPE and OPEN_APP: equal, or F1 of the sets of lower-case words > 0.5. Others:
// equal.
GuiMatch match_gui_action(const GuiAction& predicted, const GuiAction& gold, double max_distance = 0.14);

}  // namespace agon::env
