// env/grading/gui_action_reply.h - finds the GUI action in a reply, in the many forms that models write. A pure
// function; nothing throws for any text.
#pragma once

#include <optional>
#include <string_view>

#include "env/grading/gui_action.h"

namespace agon::env {

// Returns the action of a reply: the whole reply if parse_gui_action reads it, else what follows its last "Action:",
// "Actions:", "Grounded Operation:" or the like, else its last line that is an action. Skips what "Previous action:",
// "Available actions:" and the like introduce. Forms in addition to OS-Atlas's, in upper or lower case:
//   CLICK (x,y); CLICK: (x, y); click(start_box='(x,y)'), tap(x, y), pyautogui.click(x=.., y=..): any place that
//   env/grading/box_text.h reads (the centre of a box)
//   type(content='..'), scroll(direction='down'), scroll_down(), OPEN_APP name, open_app(app_name='..'), press_back(),
//   press_home(), wait(), finished()
//   {"action": "click", "coordinate": [x,y]}, alone or as the arguments of a tool call; do(action="Tap",
//   element=[x,y]); <function=click> with <parameter=x> and the like; a name, then lines such as "Point: (x,y)"
// A scroll_y above 0 scrolls down. nullopt for a reply without an action, for a click with another button than the left
// one, and for two actions in a line.
std::optional<GuiAction> read_gui_action(std::string_view reply);

}  // namespace agon::env
