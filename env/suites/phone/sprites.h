// env/suites/phone/sprites.h - the pictures of the phone's named things: one colour and one glyph each. They are drawn
// once at four times the size and reduced, so a screen is composed by copying.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "env/kit/draw.h"
#include "env/suites/phone/state.h"

namespace agon::env::phone {

// A small picture with an opacity for each pixel; rows top to bottom.
struct Sprite {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb, alpha;
};

struct Sprites {
  std::array<Sprite, kApps.size()> apps, large_apps;  // 24 and 72 pixels
  std::array<Sprite, kApps.size()> app_labels, app_titles;
  std::array<std::array<Sprite, 2>, kSettings.size()> settings;  // off, on
  std::array<Sprite, kSettings.size()> setting_labels;
  std::array<Sprite, 2> switches;                             // off, on
  std::array<Sprite, kContacts.size()> people, large_people;  // 24 and 48 pixels
  std::array<Sprite, kContacts.size()> people_labels;
  std::array<Sprite, kKeys.size()> keys;
  std::array<Sprite, 10> digits;  // of the display, 14 x 20
  std::array<Sprite, kButtons.size()> buttons;
  std::array<Sprite, 2> arrows;  // of a list that scrolls: up, down
  Sprite question;               // over the buttons that confirm
};
const Sprites& sprites();  // made at the first call, thread-safe

Color app_color(int app);
Color setting_color(int setting);
Color person_color(int contact);

}  // namespace agon::env::phone
