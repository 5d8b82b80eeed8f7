#include "env/suites/phone/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace agon::env::phone {
namespace {

// The rows of the list that the page shows or covers, without deleted contacts.
std::vector<int> list_rows(const Layout& layout, const State& state) {
  if (state.page == Page::settings) return layout.settings;
  std::vector<int> rows;
  for (int contact : layout.contacts)
    if (has(state.contacts, contact)) rows.push_back(contact);
  return rows;
}

bool is_list(const State& state) { return state.page == Page::settings || state.page == Page::contacts; }

Rect cell(int column, int row) {
  return {column * kCell + 2, row * kCell + 2, (column + 1) * kCell - 2, (row + 1) * kCell - 2};
}

Rect foot_cell(int place) { return cell(place % 4, 4 + place / 4); }

void add_rows(const Layout& layout, const State& state, TargetKind kind, std::vector<Target>& found) {
  int top = kCell;
  for (int id : visible_rows(layout, state)) {
    found.push_back({kind, id, {4, top + 1, kWidth, top + kCell - 1}});
    top += kCell;
  }
}

void add_home(const Layout& layout, std::vector<Target>& found) {
  for (int place = 0; place < 12; ++place)
    if (const int app = layout.icons[static_cast<std::size_t>(place)]; app >= 0)
      found.push_back({TargetKind::app, app, cell(place % 4, place / 4 * 2)});
}

void add_keys(const Layout& layout, std::vector<Target>& found) {
  for (int place = 0; place < 12; ++place)
    found.push_back({TargetKind::key, layout.keys[static_cast<std::size_t>(place)], cell(place % 4, 3 + place / 4)});
}

void press_key(int key, State& state) {
  if (key == kClearKey) {
    state.display.clear();
  } else if (key == kEnterKey) {
    if (!state.display.empty()) state.entered = state.display;
    state.display.clear();
  } else if (state.display.size() < kMaxDigits) {
    state.display += kKeys[static_cast<std::size_t>(key)];
  }
}

void press_button(const Layout& layout, int button, State& state) {
  if (button == kDeleteButton) state.page = Page::confirm;
  if (button == kCancelButton) state.page = Page::contact;
  if (button != kConfirmButton) return;
  state.contacts &= ~(1U << state.contact);
  state.page = Page::contacts;
  state.contact = 0;
  if (list_rows(layout, state).size() <= kVisibleRows) state.scrolled = false;
}

void activate(const Layout& layout, const Target& target, State& state) {
  switch (target.kind) {
    case TargetKind::app:
      return open_app(layout, target.id, state);
    case TargetKind::setting:
      state.switches ^= 1U << target.id;
      return;
    case TargetKind::contact:
      state.page = Page::contact;
      state.contact = target.id;
      return;
    case TargetKind::key:
      return press_key(target.id, state);
    case TargetKind::button:
      return press_button(layout, target.id, state);
  }
}

void go_home(State& state) {
  state.page = Page::home;
  state.app = state.contact = 0;
  state.scrolled = false;
  state.display.clear();
}

void go_back(State& state) {
  if (state.page == Page::confirm) {
    state.page = Page::contact;
  } else if (state.page == Page::contact) {
    state.page = Page::contacts;
    state.contact = 0;
  } else {
    go_home(state);
  }
}

std::optional<std::string> type_text(const std::string& text, State& state) {
  if (state.page != Page::keypad) return "There is no text field here.";
  const bool digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return "The display takes digits only.";
  state.display += text.substr(0, kMaxDigits - state.display.size());
  return std::nullopt;
}

std::optional<std::string> open_named(const Layout& layout, const std::string& name, State& state) {
  const auto found = std::find(kApps.begin(), kApps.end(), trim(name));
  if (found == kApps.end()) return "There is no such app.";
  open_app(layout, static_cast<int>(found - kApps.begin()), state);
  return std::nullopt;
}

bool on_screen(const GuiAction& action) {
  return action.x >= 0 && action.x <= 1000 && action.y >= 0 && action.y <= 1000;
}

std::optional<std::string> act(const Layout& layout, const GuiAction& action, State& state) {
  switch (action.type) {
    case GuiActionType::click:
    case GuiActionType::long_press:
      if (!on_screen(action)) return "That point is outside the screen.";
      if (const auto target = clicked(layout, state, action)) activate(layout, *target, state);
      return std::nullopt;
    case GuiActionType::scroll:
      if (can_scroll(layout, state, action.direction)) state.scrolled = !state.scrolled;
      return std::nullopt;
    case GuiActionType::type:
      return type_text(action.text, state);
    case GuiActionType::open_app:
      return open_named(layout, action.text, state);
    case GuiActionType::press_back:
      go_back(state);
      return std::nullopt;
    case GuiActionType::press_home:
      go_home(state);
      return std::nullopt;
    case GuiActionType::wait:
    case GuiActionType::complete:
    case GuiActionType::impossible:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string name_of(const Target& target, const State& state) {
  const auto id = static_cast<std::size_t>(target.id);
  switch (target.kind) {
    case TargetKind::app:
      return fmt::format("app {}", kApps[id]);
    case TargetKind::setting:
      return fmt::format("switch {} {}", kSettings[id], has(state.switches, target.id) ? "on" : "off");
    case TargetKind::contact:
      return fmt::format("contact {}", kContacts[id]);
    case TargetKind::key:
      return fmt::format("key {}", kKeys[id]);
    case TargetKind::button:
      return fmt::format("button {}", kButtons[id]);
  }
  return "";
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  const auto add = [&](TargetKind kind, std::size_t count, std::uint32_t switches) {
    State state;
    state.switches = switches;
    for (std::size_t id = 0; id < count; ++id) names.push_back(name_of({kind, static_cast<int>(id), {}, true}, state));
  };
  add(TargetKind::app, kApps.size(), 0);
  add(TargetKind::setting, kSettings.size(), 0);
  add(TargetKind::setting, kSettings.size(), ~0U);
  add(TargetKind::contact, kContacts.size(), 0);
  add(TargetKind::key, kKeys.size(), 0);
  add(TargetKind::button, kButtons.size(), 0);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int> visible_rows(const Layout& layout, const State& state) {
  if (!is_list(state)) return {};
  std::vector<int> rows = list_rows(layout, state);
  if (rows.size() <= kVisibleRows) return rows;
  if (state.scrolled) return {rows.end() - kVisibleRows, rows.end()};
  rows.resize(kVisibleRows);
  return rows;
}

bool can_scroll(const Layout& layout, const State& state, Direction direction) {
  if (!is_list(state) || list_rows(layout, state).size() <= kVisibleRows) return false;
  return direction == (state.scrolled ? Direction::up : Direction::down);
}

std::vector<Target> targets(const Layout& layout, const State& state) {
  std::vector<Target> found;
  found.reserve(13);  // the keypad and its title
  if (const auto app = front_app(state); app && state.page != Page::app)
    found.push_back({TargetKind::app, *app, cell(0, 0), false});
  switch (state.page) {
    case Page::home:
      add_home(layout, found);
      break;
    case Page::settings:
      add_rows(layout, state, TargetKind::setting, found);
      break;
    case Page::contacts:
      add_rows(layout, state, TargetKind::contact, found);
      break;
    case Page::contact:
      found.push_back({TargetKind::contact, state.contact, {34, 40, 82, 88}, false});
      found.push_back({TargetKind::button, kDeleteButton, foot_cell(layout.delete_place)});
      break;
    case Page::confirm:
      found.push_back({TargetKind::contact, state.contact, {58, 58, 82, 82}, false});
      found.push_back({TargetKind::button, kConfirmButton, foot_cell(layout.confirm_place)});
      found.push_back({TargetKind::button, kCancelButton, foot_cell(layout.cancel_place)});
      break;
    case Page::keypad:
      add_keys(layout, found);
      break;
    case Page::app:
      found.push_back({TargetKind::app, state.app, {22, 50, 94, 122}, false});
      break;
  }
  return found;
}

std::optional<int> front_app(const State& state) {
  switch (state.page) {
    case Page::home:
      return std::nullopt;
    case Page::settings:
      return kSettingsApp;
    case Page::contacts:
    case Page::contact:
    case Page::confirm:
      return kContactsApp;
    case Page::keypad:
      return kKeypadApp;
    case Page::app:
      return state.app;
  }
  return std::nullopt;
}

GuiAction click_on(const Rect& box) {
  const auto rounded = [](double center, double side) { return std::round(center / side * 50) * 20; };
  GuiAction action;
  action.type = GuiActionType::click;
  action.x = rounded((box.x1 + box.x2) / 2.0, kWidth);
  action.y = rounded((box.y1 + box.y2) / 2.0, kHeight);
  return action;
}

std::optional<Target> clicked(const Layout& layout, const State& state, const GuiAction& action) {
  if (action.type != GuiActionType::click || !on_screen(action)) return std::nullopt;
  for (const Target& target : targets(layout, state))
    if (target.active && target.box.contains(action.x * kWidth / 1000, action.y * kHeight / 1000)) return target;
  return std::nullopt;
}

std::optional<std::string> apply(const Layout& layout, const GuiAction& action, State& state) {
  auto refusal = act(layout, action, state);
  look(layout, state);
  return refusal;
}

void open_app(const Layout& layout, int app, State& state) {
  go_home(state);
  if (app == kSettingsApp) {
    state.page = Page::settings;
  } else if (app == kContactsApp) {
    state.page = Page::contacts;
  } else if (app == kKeypadApp) {
    state.page = Page::keypad;
  } else {
    state.page = Page::app;
    state.app = app;
  }
  look(layout, state);
}

void look(const Layout& layout, State& state) {
  if (state.page != Page::contacts) return;
  for (int contact : visible_rows(layout, state)) state.seen |= 1U << contact;
}

}  // namespace agon::env::phone
