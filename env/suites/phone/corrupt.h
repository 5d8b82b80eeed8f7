// env/suites/phone/corrupt.h - makes actions wrong in a named way, and says why an action is wrong.
#pragma once

#include <optional>
#include <string>

#include "core/rng.h"
#include "env/env.h"
#include "env/suites/phone/goal.h"

namespace agon::env::phone {

// A wrong version of the right `action` in this state; nothing if that kind of error does not fit it:
//  wrong_object      another thing is clicked, another app is opened
//  misread_value     another digit is typed or pressed
//  wrong_condition   a switch is mistaken for its opposite (set again, or left as is), or cancel for confirm
//  unjustified_jump  COMPLETE (or IMPOSSIBLE, in a task that cannot be done) too early
std::optional<GuiAction> corrupted(const Layout& layout, const Goal& goal, const State& state, const GuiAction& action,
                                   ErrorKind kind, Rng& rng);

// A message for people: what would have been right here.
std::string why_wrong(const Layout& layout, const Goal& goal, const State& state);

}  // namespace agon::env::phone
