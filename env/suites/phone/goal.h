// env/suites/phone/goal.h - the goal of a phone task, and the step oracle: how far a state is from success, and which
// actions lie on a shortest path to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/suites/phone/state.h"

namespace agon::env::phone {

// The state that the phone must be in when the policy says COMPLETE.
struct Goal {
  std::string text;            // "Turn wifi off."
  std::optional<int> open;     // this app is in front
  std::uint32_t switches = 0;  // exactly these settings are on
  std::uint32_t contacts = 0;  // exactly these contacts are there
  std::string code;            // this was the last code entered; empty: none is asked for
  bool impossible = false;  // the contact to delete does not exist: IMPOSSIBLE is right, after the whole list was seen
};

// Whether ending the episode here with COMPLETE (or IMPOSSIBLE, where that is the right end) is a success.
bool reached(const Goal& goal, const State& state);

// The number of actions from here to success, the ending one included. Each digit of a TYPE counts as one action, as a
// key press does. Nothing if success is impossible (a contact that had to stay is gone).
std::optional<int> distance(const Layout& layout, const Goal& goal, const State& state);

bool ends_episode(const GuiAction& action);  // COMPLETE and IMPOSSIBLE

// Whether the action is on a shortest path: it ends the episode in success, or shortens the distance by its own cost.
bool is_right(const Layout& layout, const Goal& goal, const State& state, const GuiAction& action);

// Every right action of an expert, in a fixed order: clicks go to centres; OPEN_APP only if nothing else is right.
// Empty if success is impossible.
std::vector<GuiAction> right_actions(const Layout& layout, const Goal& goal, const State& state);

}  // namespace agon::env::phone
