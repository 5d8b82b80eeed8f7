// env/grading/gui_call.h - reads GUI actions that models write as function calls or JSON under many names: click(..),
// "action": "swipe" and the like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/grading/gui_action.h"

namespace agon::env {

// swipe: a movement of the finger; the page scrolls the opposite way. press: a key that the arguments name. status: how
// the task ended.
enum class GuiCall {
  click,
  long_press,
  scroll,
  swipe,
  type,
  open_app,
  back,
  home,
  wait,
  complete,
  impossible,
  press,
  status
};
std::optional<GuiCall> gui_call_named(std::string_view text);  // in any case; ignores "_", "-" and blanks

// The arguments of a call: as they are written, and the text among them.
struct GuiCallArguments {
  std::string_view written;
  std::optional<std::string> text;  // typed, or an app's name
};
// The action of a call. nullopt if its arguments are incomplete or ambiguous, and for a click with another button than
// the left one.
std::optional<GuiAction> action_of(GuiCall call, const GuiCallArguments& arguments);

}  // namespace agon::env
