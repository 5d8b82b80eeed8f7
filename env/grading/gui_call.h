// env/grading/gui_call.h - reads GUI actions that models write as function calls or JSON under many names: click(..),
// "action": "swipe" and the like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/grading/gui_action.h"

namespace agon::env {

// swipe: a finger's way, against which the page scrolls; press: a key that the arguments name; status: how the task
// ended.
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
std::optional<GuiCall> gui_call_named(std::string_view text);  // in any case, with or without "_", "-" and blanks

// The arguments of a call: what it says, and its texts.
struct GuiCallArguments {
  std::string_view written;
  std::optional<std::string> text;  // typed, or an app's name
};
// Nothing where they say too little, or more than one thing; and for a click of another button than the left.
std::optional<GuiAction> action_of(GuiCall call, const GuiCallArguments& arguments);

}  // namespace agon::env
