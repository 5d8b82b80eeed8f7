#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "env/suites/phone/state.h"

using namespace agon::env;
using namespace agon::env::phone;

namespace {

GuiAction of(GuiActionType type, std::string text = "") { return {type, 0, 0, Direction::up, std::move(text)}; }
GuiAction scroll(Direction direction) { return {GuiActionType::scroll, 0, 0, direction, ""}; }

// All settings and contacts, keys in order, two icons.
Layout full_layout() {
  Layout layout;
  layout.icons.fill(-1);
  layout.icons[0] = kSettingsApp;
  layout.icons[11] = 3;
  for (int i = 0; i < 8; ++i) layout.settings.push_back(i);
  for (int i = 0; i < 10; ++i) layout.contacts.push_back(i);
  for (std::size_t i = 0; i < layout.keys.size(); ++i) layout.keys[i] = static_cast<int>(i);
  layout.delete_place = 7;
  return layout;
}

State full_state() {
  State state;
  state.contacts = (1U << 10) - 1;
  return state;
}

// Clicks the active thing of that name; false if it is not on the screen.
bool click(const Layout& layout, const std::string& name, State& state) {
  for (const Target& target : targets(layout, state))
    if (target.active && name_of(target, state) == name) return !apply(layout, click_on(target.box), state);
  return false;
}

TEST_CASE("phone: icons open apps, home and back leave them") {
  const Layout layout = full_layout();
  State state = full_state();
  REQUIRE(click(layout, "app settings", state));
  CHECK(state.page == Page::settings);
  CHECK_FALSE(apply(layout, of(GuiActionType::press_back), state));
  CHECK(state == full_state());
  CHECK_FALSE(apply(layout, of(GuiActionType::press_back), state));
  CHECK(state == full_state());
  REQUIRE(click(layout, "app music", state));
  CHECK(state.page == Page::app);
  CHECK(front_app(state) == 3);
  CHECK_FALSE(click(layout, "app music", state));  // the large glyph of an open app does nothing
  CHECK_FALSE(apply(layout, of(GuiActionType::press_home), state));
  CHECK(state == full_state());
}

TEST_CASE("phone: lists show five rows at either end and scroll between them") {
  const Layout layout = full_layout();
  State state = full_state();
  open_app(layout, kSettingsApp, state);
  CHECK(visible_rows(layout, state) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK_FALSE(can_scroll(layout, state, Direction::up));
  CHECK_FALSE(apply(layout, scroll(Direction::up), state));
  CHECK_FALSE(state.scrolled);
  CHECK_FALSE(apply(layout, scroll(Direction::down), state));
  CHECK(visible_rows(layout, state) == std::vector<int>{3, 4, 5, 6, 7});
  REQUIRE(click(layout, "switch airplane off", state));
  CHECK(has(state.switches, 6));
  REQUIRE(click(layout, "switch airplane on", state));
  CHECK(state.switches == 0);
  CHECK_FALSE(apply(layout, scroll(Direction::up), state));
  CHECK(visible_rows(layout, state).front() == 0);
}

TEST_CASE("phone: a contact goes only after the question") {
  const Layout layout = full_layout();
  State state = full_state();
  open_app(layout, kContactsApp, state);
  CHECK(state.seen == 0b11111);
  REQUIRE(click(layout, "contact Bob", state));
  CHECK(state.page == Page::contact);
  REQUIRE(click(layout, "button delete", state));
  REQUIRE(click(layout, "button cancel", state));
  CHECK(state.page == Page::contact);
  REQUIRE(click(layout, "button delete", state));
  CHECK_FALSE(apply(layout, of(GuiActionType::press_back), state));
  CHECK(state.page == Page::contact);
  CHECK(has(state.contacts, 1));
  REQUIRE(click(layout, "button delete", state));
  REQUIRE(click(layout, "button confirm", state));
  CHECK(state.page == Page::contacts);
  CHECK_FALSE(has(state.contacts, 1));
  CHECK(visible_rows(layout, state) == std::vector<int>{0, 2, 3, 4, 5});
  CHECK(state.seen == 0b111111);
}

TEST_CASE("phone: a list that has become short is not scrolled any more") {
  Layout layout = full_layout();
  layout.contacts = {0, 1, 2, 3, 4, 5};
  State state;
  state.contacts = 0b111111;
  open_app(layout, kContactsApp, state);
  CHECK_FALSE(apply(layout, scroll(Direction::down), state));
  REQUIRE(click(layout, "contact Finn", state));
  REQUIRE(click(layout, "button delete", state));
  REQUIRE(click(layout, "button confirm", state));
  CHECK_FALSE(state.scrolled);
  CHECK(visible_rows(layout, state) == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("phone: the keypad takes keys and typed digits, up to six") {
  const Layout layout = full_layout();
  State state = full_state();
  CHECK(apply(layout, of(GuiActionType::type, "4"), state));
  open_app(layout, kKeypadApp, state);
  REQUIRE(click(layout, "key 4", state));
  CHECK_FALSE(apply(layout, of(GuiActionType::type, "07"), state));
  CHECK(state.display == "407");
  for (const char* bad : {"", "x", "4 7", "-1"}) CHECK(apply(layout, of(GuiActionType::type, bad), state));
  CHECK(state.display == "407");
  CHECK_FALSE(apply(layout, of(GuiActionType::type, "123456789"), state));
  CHECK(state.display == "407123");
  REQUIRE(click(layout, "key 9", state));
  CHECK(state.display == "407123");
  REQUIRE(click(layout, "key enter", state));
  CHECK(state.entered == "407123");
  CHECK(state.display.empty());
  REQUIRE(click(layout, "key enter", state));
  CHECK(state.entered == "407123");
  REQUIRE(click(layout, "key 5", state));
  REQUIRE(click(layout, "key clear", state));
  CHECK(state.display.empty());
}

TEST_CASE("phone: apps open by name from anywhere, unknown ones do not") {
  const Layout layout = full_layout();
  State state = full_state();
  open_app(layout, kKeypadApp, state);
  CHECK_FALSE(apply(layout, of(GuiActionType::open_app, "mail"), state));
  CHECK(front_app(state) == 6);
  const State before = state;
  for (const char* bad : {"", "Mail", "chess", "mail 2"}) CHECK(apply(layout, of(GuiActionType::open_app, bad), state));
  CHECK(state == before);
}

TEST_CASE("phone: what has no effect is accepted, what is outside is refused") {
  const Layout layout = full_layout();
  State state = full_state();
  const State before = state;
  for (GuiActionType type : {GuiActionType::wait, GuiActionType::complete, GuiActionType::impossible})
    CHECK_FALSE(apply(layout, of(type), state));
  GuiAction press = click_on({2, 2, 26, 26});
  press.type = GuiActionType::long_press;
  CHECK_FALSE(apply(layout, press, state));
  CHECK_FALSE(apply(layout, {GuiActionType::click, 1000, 1000, Direction::up, ""}, state));
  CHECK(apply(layout, {GuiActionType::click, 1001, 0, Direction::up, ""}, state));
  CHECK(apply(layout, {GuiActionType::click, 0, -1, Direction::up, ""}, state));
  CHECK(state == before);
}

TEST_CASE("phone: a click on the rounded centre hits its target on every page") {
  const Layout layout = full_layout();
  for (Page page :
       {Page::home, Page::settings, Page::contacts, Page::contact, Page::confirm, Page::keypad, Page::app}) {
    State state = full_state();
    state.page = page;
    for (const Target& target : targets(layout, state)) {
      if (!target.active) continue;
      const GuiAction click = click_on(target.box);
      CHECK(static_cast<int>(click.x) % 20 == 0);
      CHECK(static_cast<int>(click.y) % 20 == 0);
      const auto hit = clicked(layout, state, click);
      REQUIRE(hit);
      CHECK(name_of(*hit, state) == name_of(target, state));
    }
  }
}

TEST_CASE("phone: all names are sorted and unlike") {
  const std::vector<std::string> names = all_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  CHECK(names.size() == kApps.size() + 2 * kSettings.size() + kContacts.size() + kKeys.size() + kButtons.size());
}

}  // namespace
