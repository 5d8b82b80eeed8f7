#include "env/suites/phone/goal.h"

#include <algorithm>
#include <array>

namespace agon::env::phone {
namespace {

// The work left in one app: number of actions from its first screen, and from the current state (without going home).
struct Work {
  bool pending = false;
  int from_start = 0;
  std::optional<int> from_here;
};

bool on_page(const std::vector<int>& rows, int row_index, bool scrolled) {
  const int count = static_cast<int>(rows.size());
  if (count <= kVisibleRows) return true;
  return scrolled ? row_index >= count - kVisibleRows : row_index < kVisibleRows;
}

// The number of actions: clicks on all wrong switches, and one scroll if some are only at the other end of the list.
int switch_work(const Layout& layout, std::uint32_t wrong, bool scrolled) {
  int clicks = 0, hidden = 0;
  for (std::size_t i = 0; i < layout.settings.size(); ++i) {
    if (!has(wrong, layout.settings[i])) continue;
    ++clicks;
    hidden |= on_page(layout.settings, static_cast<int>(i), scrolled) ? 0 : 1;
  }
  return clicks + hidden;
}

Work settings_work(const Layout& layout, const Goal& goal, const State& state) {
  const std::uint32_t wrong = goal.switches ^ state.switches;
  Work work{wrong != 0, switch_work(layout, wrong, false), std::nullopt};
  if (state.page == Page::settings) work.from_here = switch_work(layout, wrong, state.scrolled);
  return work;
}

// Whether the list, at that end, does not show some existing contacts of `wanted`.
bool some_hidden(const Layout& layout, const State& state, std::uint32_t wanted, bool scrolled) {
  State list = state;
  list.page = Page::contacts;
  list.scrolled = scrolled;
  for (int contact : visible_rows(layout, list)) wanted &= ~(1U << contact);
  return (wanted & state.contacts) != 0;
}

// The number of actions back to the list: one from a contact, two from the question.
int to_list(const State& state) { return state.page == Page::contacts ? 0 : state.page == Page::contact ? 1 : 2; }

Work contacts_work(const Layout& layout, const Goal& goal, const State& state) {
  const bool here = front_app(state) == kContactsApp;
  const std::uint32_t doomed = state.contacts & ~goal.contacts;
  const std::uint32_t wanted = goal.impossible ? state.contacts & ~state.seen : doomed;
  const int at_row = goal.impossible ? 0 : 3;  // the row, delete, confirm
  Work work{wanted != 0, at_row + some_hidden(layout, state, wanted, false), std::nullopt};
  if (!here) return work;
  work.from_here = to_list(state) + at_row + some_hidden(layout, state, wanted, state.scrolled);
  if (!goal.impossible && has(doomed, state.contact) && state.page == Page::contact) work.from_here = 2;
  if (!goal.impossible && has(doomed, state.contact) && state.page == Page::confirm) work.from_here = 1;
  return work;
}

Work keypad_work(const Goal& goal, const State& state) {
  const int whole = static_cast<int>(goal.code.size()) + 1;
  Work work{!goal.code.empty() && state.entered != goal.code, whole, std::nullopt};
  if (state.page != Page::keypad) return work;
  const bool good = goal.code.starts_with(state.display);
  work.from_here = good ? whole - static_cast<int>(state.display.size()) : 1 + whole;
  return work;
}

int cost(const GuiAction& action) {
  return action.type == GuiActionType::type ? std::max(1, static_cast<int>(action.text.size())) : 1;
}

GuiAction of_type(GuiActionType type) {
  GuiAction action;
  action.type = type;
  return action;
}

// The actions that an expert may consider here, except OPEN_APP.
std::vector<GuiAction> candidates(const Layout& layout, const Goal& goal, const State& state) {
  std::vector<GuiAction> actions;
  for (const Target& target : targets(layout, state))
    if (target.active) actions.push_back(click_on(target.box));
  for (Direction direction : {Direction::up, Direction::down})
    if (can_scroll(layout, state, direction)) {
      actions.push_back(of_type(GuiActionType::scroll));
      actions.back().direction = direction;
    }
  if (state.page == Page::keypad && goal.code.starts_with(state.display) &&
      goal.code.size() > state.display.size() + 1) {
    actions.push_back(of_type(GuiActionType::type));
    actions.back().text = goal.code.substr(state.display.size());
  }
  actions.push_back(of_type(GuiActionType::press_back));
  actions.push_back(of_type(goal.impossible ? GuiActionType::impossible : GuiActionType::complete));
  return actions;
}

std::vector<GuiAction> open_actions() {
  std::vector<GuiAction> actions;
  for (std::string_view app : kApps) {
    actions.push_back(of_type(GuiActionType::open_app));
    actions.back().text = app;
  }
  return actions;
}

}  // namespace

bool ends_episode(const GuiAction& action) {
  return action.type == GuiActionType::complete || action.type == GuiActionType::impossible;
}

bool reached(const Goal& goal, const State& state) {
  if (goal.open && front_app(state) != goal.open) return false;
  if (goal.impossible && (state.contacts & ~state.seen) != 0) return false;
  return state.switches == goal.switches && state.contacts == goal.contacts &&
         (goal.code.empty() || state.entered == goal.code);
}

// The apps with work left can be visited in any order, each by one OPEN_APP (or one click at home); only the first can
// be the one that is already in front, which saves what has been done there. An app to open comes last.
std::optional<int> distance(const Layout& layout, const Goal& goal, const State& state) {
  if ((goal.contacts & ~state.contacts) != 0) return std::nullopt;
  int total = 1, saved = 0;
  bool pending = false, ends_in_open = false;
  const std::array<Work, 3> works{settings_work(layout, goal, state), contacts_work(layout, goal, state),
                                  keypad_work(goal, state)};  // by app id
  for (int app = 0; app < kFirstPlainApp; ++app) {
    const Work& work = works[static_cast<std::size_t>(app)];
    if (!work.pending) continue;
    pending = true;
    ends_in_open |= goal.open == app;
    total += 1 + work.from_start;
    if (work.from_here) saved = std::max(saved, 1 + work.from_start - *work.from_here);
  }
  if (goal.open && !ends_in_open && (pending || front_app(state) != goal.open)) ++total;
  return total - saved;
}

bool is_right(const Layout& layout, const Goal& goal, const State& state, const GuiAction& action) {
  if (ends_episode(action))
    return goal.impossible == (action.type == GuiActionType::impossible) && reached(goal, state);
  const auto before = distance(layout, goal, state);
  if (!before) return false;
  State next = state;
  if (apply(layout, action, next)) return false;
  const auto after = distance(layout, goal, next);
  return after && *after == *before - cost(action);
}

std::vector<GuiAction> right_actions(const Layout& layout, const Goal& goal, const State& state) {
  std::vector<GuiAction> right;
  const auto keep = [&](const std::vector<GuiAction>& actions) {
    for (const GuiAction& action : actions)
      if (is_right(layout, goal, state, action)) right.push_back(action);
  };
  keep(candidates(layout, goal, state));
  if (right.empty()) keep(open_actions());
  return right;
}

}  // namespace agon::env::phone
