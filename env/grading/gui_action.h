// env/grading/gui_action.h - the GUI action language of OS-Atlas: CLICK <point>[[x,y]]</point>, LONG_PRESS <point>...,
// SCROLL [UP], TYPE [text], OPEN_APP [name], PRESS_BACK, PRESS_HOME, WAIT, COMPLETE, IMPOSSIBLE; coordinates 0-1000 of
// the screen.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

struct GuiAction {
  GuiActionType type = GuiActionType::wait;
  double x = 0, y = 0;                  // click, long_press
  Direction direction = Direction::up;  // scroll
  std::string text;                     // type, open_app
  bool operator==(const GuiAction&) const = default;
};

// Reads one action; surrounding white space and an <answer> around it are allowed, anything else is not an action.
// Numbers off the screen are read as they are; texts may hold brackets and line breaks.
std::optional<GuiAction> parse_gui_action(std::string_view text);
// The action of a reply as models write them: as above, or what follows its last "Action:", "Actions:", "Grounded
// Operation:" or the like, or its last line that is one; never what "Previous action:", "Available actions:" and the
// like name. Forms beside those of OS-Atlas, in any case:
//   CLICK (x,y); CLICK: (x, y); click(start_box='(x,y)'), tap(x, y), pyautogui.click(x=.., y=..): any place that
//   env/grading/box_text.h reads, of a box its centre
//   type(content='..'), scroll(direction='down'), scroll_down(), OPEN_APP name, open_app(app_name='..'), press_back(),
//   press_home(), wait(), finished()
//   {"action": "click", "coordinate": [x,y]}, alone or as the arguments of a tool call; do(action="Tap",
//   element=[x,y]); <function=click> with <parameter=x> and the like; a name, then lines such as "Point: (x,y)"
// A scroll_y above 0 scrolls down. Nothing for a reply that holds no action, and for a click of another button than the
// left or two actions in a line.
std::optional<GuiAction> read_gui_action(std::string_view reply);
std::string format_gui_action(const GuiAction& action);  // parse(format(a)) == a for whole coordinates

struct GuiMatch {
  bool type = false, success = false;  // same type; same type and arguments
  std::optional<bool> grounding;       // CLICKs of the right type: within the distance
};
// Step match of a prediction against gold. max_distance: 0.14 (OS-Atlas) or 0.04 (AgentCPM-GUI), as a share of the
// screen. TYPE and OPEN_APP: equal, or F1 of the sets of lower-case words > 0.5. Others: equal.
GuiMatch match_gui_action(const GuiAction& predicted, const GuiAction& gold, double max_distance = 0.14);

}  // namespace agon::env
