#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "env/suites/phone/screen.h"

using namespace agon;
using namespace agon::env;
using namespace agon::env::phone;

namespace {

// The pixels of a box.
std::vector<int> crop(const Image& screen, const Rect& box) {
  std::vector<int> pixels;
  for (int y = box.y1; y < box.y2; ++y)
    for (int i = box.x1 * 3; i < box.x2 * 3; ++i)
      pixels.push_back(screen.rgb()[static_cast<std::size_t>(y * kWidth * 3 + i)]);
  return pixels;
}

double difference(const std::vector<int>& a, const std::vector<int>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

using Looks = std::vector<std::pair<std::string, std::vector<int>>>;

// Checks that things look different, each drawn alone in the same place.
void check_unlike(const Looks& looks) {
  for (std::size_t i = 0; i < looks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      INFO(looks[i].first << " and " << looks[j].first);
      CHECK(difference(looks[i].second, looks[j].second) > 12);
    }
}

TEST_CASE("phone: every app, key and button has a look of its own") {
  Looks looks;
  State state;
  Layout layout;
  layout.icons.fill(-1);
  const Rect corner{2, 2, 26, 26};
  for (std::size_t app = 0; app < kApps.size(); ++app) {
    layout.icons[0] = static_cast<int>(app);
    looks.emplace_back(kApps[app], crop(draw_screen(layout, state), corner));
  }
  state.page = Page::keypad;
  for (std::size_t key = 0; key < kKeys.size(); ++key) {
    layout.keys.fill(static_cast<int>(key));
    looks.emplace_back(kKeys[key], crop(draw_screen(layout, state), {2, 86, 26, 110}));
  }
  state.page = Page::contact;
  looks.emplace_back("delete", crop(draw_screen(layout, state), {2, 114, 26, 138}));
  state.page = Page::confirm;
  looks.emplace_back("confirm", crop(draw_screen(layout, state), {2, 114, 26, 138}));
  looks.emplace_back("cancel", crop(draw_screen(layout, state), {30, 114, 54, 138}));
  check_unlike(looks);
}

TEST_CASE("phone: every row has a look of its own, on and off too") {
  Looks looks;
  Layout layout;
  State state;
  const Rect row{0, 29, kWidth, 55};
  state.page = Page::settings;
  for (int setting = 0; setting < static_cast<int>(kSettings.size()); ++setting)
    for (std::uint32_t switches : {0U, ~0U}) {
      layout.settings = {setting};
      state.switches = switches;
      const std::string name = name_of(targets(layout, state).back(), state);
      looks.emplace_back(name, crop(draw_screen(layout, state), row));
    }
  state.page = Page::contacts;
  state.contacts = ~0U;
  for (int contact = 0; contact < static_cast<int>(kContacts.size()); ++contact) {
    layout.contacts = {contact};
    looks.emplace_back(kContacts[static_cast<std::size_t>(contact)], crop(draw_screen(layout, state), row));
  }
  check_unlike(looks);
}

TEST_CASE("phone: the screen tells a code that is typed from one that is entered") {
  Layout layout;
  State state;
  state.page = Page::keypad;
  const Image empty = draw_screen(layout, state);
  state.display = "47";
  const Image typed = draw_screen(layout, state);
  state.display.clear();
  state.entered = "47";
  const Image entered = draw_screen(layout, state);
  CHECK(empty.width() == kWidth);
  CHECK(empty.height() == kHeight);
  CHECK_FALSE(typed == empty);
  CHECK_FALSE(entered == typed);
  CHECK_FALSE(entered == empty);
}

TEST_CASE("phone: a full screen of everything stays inside the picture") {
  Layout layout;
  layout.icons = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  layout.delete_place = 7;
  layout.confirm_place = 7;
  layout.cancel_place = 4;
  layout.wallpaper = 3;
  for (int i = 0; i < 8; ++i) layout.settings.push_back(i);
  for (int i = 0; i < 10; ++i) layout.contacts.push_back(i);
  State state;
  state.contacts = (1U << 10) - 1;
  state.display = "888888";
  for (Page page :
       {Page::home, Page::settings, Page::contacts, Page::contact, Page::confirm, Page::keypad, Page::app}) {
    state.page = page;
    const Image screen = draw_screen(layout, state);
    CHECK(screen.width() * screen.height() == kWidth * kHeight);
    for (const Target& target : targets(layout, state)) {
      CHECK((target.box.x1 >= 0 && target.box.y1 >= 0 && target.box.x2 <= kWidth && target.box.y2 <= kHeight));
    }
  }
}

}  // namespace
