#include "env/suites/phone/sprites.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "env/suites/phone/glyphs.h"

namespace agon::env::phone {
namespace {

constexpr int kScale = 4;  // enlargement of the drawings, which are then reduced
constexpr Color kWhite{255, 255, 255}, kBlack{0, 0, 0}, kInk{40, 44, 52};

constexpr std::array<Color, kApps.size()> kAppColors{{{110, 118, 130},
                                                      {0, 150, 136},
                                                      {38, 50, 72},
                                                      {233, 30, 140},
                                                      {150, 90, 40},
                                                      {60, 170, 60},
                                                      {40, 100, 230},
                                                      {255, 140, 0},
                                                      {220, 40, 40},
                                                      {70, 190, 240},
                                                      {120, 60, 200},
                                                      {235, 195, 20},
                                                      {240, 120, 150}}};
constexpr std::array<Color, kSettings.size()> kSettingColors{{{30, 130, 230},
                                                              {90, 70, 210},
                                                              {235, 70, 130},
                                                              {30, 160, 80},
                                                              {240, 170, 20},
                                                              {60, 60, 110},
                                                              {240, 110, 40},
                                                              {120, 150, 30}}};
constexpr std::array<Color, kContacts.size()> kPersonColors{{{220, 50, 50},
                                                             {40, 90, 220},
                                                             {30, 150, 70},
                                                             {240, 150, 20},
                                                             {140, 60, 190},
                                                             {0, 165, 180},
                                                             {230, 80, 160},
                                                             {130, 85, 50},
                                                             {110, 120, 130},
                                                             {150, 170, 20}}};
constexpr std::array<Color, kKeys.size()> kKeyColors{{{90, 90, 90},
                                                      {210, 60, 60},
                                                      {50, 110, 220},
                                                      {40, 150, 70},
                                                      {225, 130, 20},
                                                      {140, 70, 190},
                                                      {0, 150, 165},
                                                      {215, 70, 150},
                                                      {130, 90, 50},
                                                      {120, 145, 20},
                                                      {255, 255, 255},
                                                      {20, 20, 20}}};
constexpr std::array<Color, kButtons.size()> kButtonColors{{{215, 30, 30}, {20, 140, 60}, {100, 108, 120}}};

// The mean of every kScale x kScale block.
std::vector<std::uint8_t> reduce(const Image& large, int channels) {
  const int width = large.width() / kScale, height = large.height() / kScale;
  std::vector<std::uint8_t> small;
  small.reserve(static_cast<std::size_t>(width * height * channels));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int channel = 0; channel < channels; ++channel) {
        int sum = 0;
        for (int dy = 0; dy < kScale; ++dy)
          for (int dx = 0; dx < kScale; ++dx)
            sum += large.rgb()[static_cast<std::size_t>(((y * kScale + dy) * large.width() + x * kScale + dx) * 3 +
                                                        channel)];
        small.push_back(static_cast<std::uint8_t>(sum / (kScale * kScale)));
      }
  return small;
}

using Draw = std::function<void(const Pen&)>;

// The sprite is `units` wide for the pens. `mask` draws the opaque area.
Sprite make_sprite(int width, int height, double units, Color ground, const Draw& picture, const Draw& mask) {
  Canvas colors(width * kScale, height * kScale, ground);
  Canvas opacity(width * kScale, height * kScale, kBlack);
  const double scale = width * kScale / units;
  picture(Pen(colors, scale, kWhite, ground));
  mask(Pen(opacity, scale, kWhite, kBlack));
  return {width, height, reduce(std::move(colors).image(), 3), reduce(std::move(opacity).image(), 1)};
}

void round_tile(const Pen& pen) { pen.round_box(0, 0, 24, 24, 5); }
void disc_tile(const Pen& pen) { pen.disc(12, 12, 12); }

Sprite tile(int size, Color color, const Draw& glyph) { return make_sprite(size, size, 24, color, glyph, round_tile); }

Sprite letter_disc(int size, Color color, char letter) {
  return make_sprite(
      size, size, 24, color, [&](const Pen& pen) { pen.letters(12, 12, 13, std::string(1, letter), 2.4); }, disc_tile);
}

// Off: the glyph in its colour on white, framed; on: white on its colour.
Sprite setting_tile(int setting, bool on) {
  const Color color = kSettingColors[static_cast<std::size_t>(setting)];
  if (on) return tile(24, color, [&](const Pen& pen) { draw_setting(setting, pen); });
  const auto picture = [&](const Pen& pen) {
    draw_setting(setting, Pen(pen, color, kWhite));
    const Pen frame(pen, color, kWhite);
    for (double side : {0.0, 22.0}) {
      frame.box(side, 0, side + 2, 24);
      frame.box(0, side, 24, side + 2);
    }
  };
  return make_sprite(24, 24, 24, kWhite, picture, round_tile);
}

Sprite switch_sprite(bool on) {
  const Color track = on ? Color{40, 170, 70} : Color{165, 170, 178};
  const auto knob = [&](const Pen& pen) { pen.disc(on ? 17 : 7, 7, 5.5); };
  return make_sprite(24, 14, 24, track, knob, [](const Pen& pen) { pen.round_box(0, 0, 24, 14, 7); });
}

// Text with capitals of `height` pixels, or fewer so that it fits into `width`.
Sprite text_sprite(std::string_view text, double height, int width, Color color) {
  const double natural = Canvas::text_width(text, height * kScale) / kScale;
  const double used = std::min(height, height * (width - 2) / natural);
  const int high = static_cast<int>(std::ceil(height * 1.6));
  const auto write = [&](const Pen& pen) { pen.letters(width / 2.0, high / 2.0, used, std::string(text), used / 7); };
  return make_sprite(
      width, high, width, color, [](const Pen&) {}, write);
}

Sprite key_sprite(int key) {
  const auto id = static_cast<std::size_t>(key);
  const Color ink = key == kClearKey ? Color{215, 30, 30} : kWhite;
  const auto glyph = [&](const Pen& pen) {
    const Pen inked(pen, ink, kKeyColors[id]);
    if (key < kClearKey) inked.letters(12, 12, 14, std::string(kKeys[id]), 2.6);
    if (key == kClearKey) draw_clear(inked);
    if (key == kEnterKey) draw_enter(inked);
  };
  return tile(24, kKeyColors[id], glyph);
}

Sprite digit_sprite(int digit) {
  return make_sprite(
      14, 20, 14, kInk, [](const Pen&) {},
      [&](const Pen& pen) { pen.letters(7, 10, 16, std::string(kKeys[static_cast<std::size_t>(digit)]), 2.4); });
}

Sprite arrow_sprite(bool down) {
  const auto triangle = [&](const Pen& pen) {
    if (down) pen.shape({{0, 0}, {12, 0}, {6, 9}});
    if (!down) pen.shape({{0, 9}, {12, 9}, {6, 0}});
  };
  return make_sprite(
      12, 9, 12, kWhite, [](const Pen&) {}, triangle);
}

void add_apps(Sprites& all) {
  for (std::size_t app = 0; app < kApps.size(); ++app) {
    const auto glyph = [&](const Pen& pen) { draw_app(static_cast<int>(app), pen); };
    all.apps[app] = tile(24, kAppColors[app], glyph);
    all.large_apps[app] = tile(72, kAppColors[app], glyph);
    all.app_labels[app] = text_sprite(kApps[app], 6, 28, kInk);
    all.app_titles[app] = text_sprite(kApps[app], 8, 56, kWhite);
  }
}

void add_settings(Sprites& all) {
  for (std::size_t setting = 0; setting < kSettings.size(); ++setting) {
    for (bool on : {false, true}) all.settings[setting][on] = setting_tile(static_cast<int>(setting), on);
    all.setting_labels[setting] = text_sprite(kSettings[setting], 8, 50, kInk);
  }
  for (bool on : {false, true}) all.switches[on] = switch_sprite(on);
}

void add_people(Sprites& all) {
  for (std::size_t person = 0; person < kContacts.size(); ++person) {
    all.people[person] = letter_disc(24, kPersonColors[person], kContacts[person].front());
    all.large_people[person] = letter_disc(48, kPersonColors[person], kContacts[person].front());
    all.people_labels[person] = text_sprite(kContacts[person], 9, 50, kInk);
  }
}

void add_controls(Sprites& all) {
  for (std::size_t key = 0; key < kKeys.size(); ++key) all.keys[key] = key_sprite(static_cast<int>(key));
  for (std::size_t digit = 0; digit < 10; ++digit) all.digits[digit] = digit_sprite(static_cast<int>(digit));
  for (std::size_t button = 0; button < kButtons.size(); ++button)
    all.buttons[button] =
        tile(24, kButtonColors[button], [&](const Pen& pen) { draw_button(static_cast<int>(button), pen); });
  for (bool down : {false, true}) all.arrows[down] = arrow_sprite(down);
  all.question = text_sprite("delete?", 9, 64, kInk);
}

}  // namespace

const Sprites& sprites() {
  static const Sprites all = [] {
    Sprites made;
    add_apps(made);
    add_settings(made);
    add_people(made);
    add_controls(made);
    return made;
  }();
  return all;
}

Color app_color(int app) { return kAppColors[static_cast<std::size_t>(app)]; }
Color setting_color(int setting) { return kSettingColors[static_cast<std::size_t>(setting)]; }
Color person_color(int contact) { return kPersonColors[static_cast<std::size_t>(contact)]; }

}  // namespace agon::env::phone
