// env/grading/gui_action_reply.h - finds the GUI action in a reply, in the many forms that models write. A pure
// function; nothing throws for any text.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/gui_action.h"

namespace agon::env {

// The action of a reply: as parse_gui_action reads it, or what follows its last "Action:", "Actions:", "Grounded
// Operation:" or the like, or its last line that is one; never what "Previous action:", "Available actions:" and the
// like name. Forms in addition to OS-Atlas's, in any case:
//   CLICK (x,y); CLICK: (x, y); click(start_box='(x,y)'), tap(x, y), pyautogui.click(x=.., y=..): any place that
//   env/grading/box_text.h reads, of a box its centre
//   type(content='..'), scroll(direction='down'), scroll_down(), OPEN_APP name, open_app(app_name='..'), press_back(),
//   press_home(), wait(), finished()
//   {"action": "click", "coordinate": [x,y]}, alone or as the arguments of a tool call; do(action="Tap",
//   element=[x,y]); <function=click> with <parameter=x> and the like; a name, then lines such as "Point: (x,y)"
// A scroll_y above 0 scrolls down. Nothing for a reply that holds no action, and for a click of another button than the
// left or two actions in a line.
std::optional<GuiAction> read_gui_action(std::string_view reply);

}  // namespace agon::env
