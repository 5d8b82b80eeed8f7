#include "env/suites/phone/screen.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "env/suites/phone/sprites.h"

namespace agon::env::phone {
namespace {

constexpr std::array<Color, 4> kWallpapers{{{226, 236, 248}, {246, 232, 224}, {228, 244, 230}, {240, 232, 248}}};
constexpr Color kPaper{255, 255, 255};

Color mix(Color color, Color other, int percent_other) {
  const auto channel = [&](int a, int b) { return static_cast<std::uint8_t>(a + (b - a) * percent_other / 100); };
  return {channel(color.red, other.red), channel(color.green, other.green), channel(color.blue, other.blue)};
}

class Screen {
 public:
  explicit Screen(Color background) : rgb_(kWidth * kHeight * 3) { fill({0, 0, kWidth, kHeight}, background); }

  void fill(const Rect& rect, Color color) {
    std::uint8_t* first = at(rect.x1, rect.y1);
    const std::ptrdiff_t bytes = (rect.x2 - rect.x1) * 3;
    for (std::uint8_t* pixel = first; pixel != first + bytes; pixel += 3) {
      pixel[0] = color.red;
      pixel[1] = color.green;
      pixel[2] = color.blue;
    }
    for (int y = rect.y1 + 1; y < rect.y2; ++y) std::copy(first, first + bytes, at(rect.x1, y));
  }

  // `strength` of 256 fades the sprite.
  void put(const Sprite& sprite, int left, int top, int strength = 256) {
    const std::uint8_t* color = sprite.rgb.data();
    const std::uint8_t* alpha = sprite.alpha.data();
    for (int y = 0; y < sprite.height; ++y) {
      std::uint8_t* pixel = at(left, top + y);
      for (int x = 0; x < sprite.width; ++x, pixel += 3, color += 3, ++alpha) {
        const int opacity = *alpha * strength / 255;  // of 256
        if (opacity == 0) continue;
        for (int c = 0; c < 3; ++c)
          pixel[c] = static_cast<std::uint8_t>((pixel[c] * (256 - opacity) + color[c] * opacity) >> 8);
      }
    }
  }
  void put_in(const Sprite& sprite, const Rect& box) {
    put(sprite, (box.x1 + box.x2 - sprite.width) / 2, (box.y1 + box.y2 - sprite.height) / 2);
  }

  Image image() && { return Image(kWidth, kHeight, std::move(rgb_)); }

 private:
  std::uint8_t* at(int x, int y) { return rgb_.data() + (y * kWidth + x) * 3; }
  std::vector<std::uint8_t> rgb_;
};

void draw_title(const Layout& layout, const State& state, Screen& screen) {
  const int app = *front_app(state);
  screen.fill({0, 0, kWidth, kCell}, mix(app_color(app), {0, 0, 0}, 35));
  screen.put_in(sprites().app_titles[static_cast<std::size_t>(app)], {28, 0, 84, kCell});
  const bool up = can_scroll(layout, state, Direction::up), down = can_scroll(layout, state, Direction::down);
  if (!up && !down) return;
  screen.put(sprites().arrows[0], 92, 3, up ? 256 : 50);
  screen.put(sprites().arrows[1], 92, 16, down ? 256 : 50);
}

void draw_setting_row(const Target& row, const State& state, Screen& screen) {
  const auto id = static_cast<std::size_t>(row.id);
  const bool on = has(state.switches, row.id);
  const int top = row.box.y1;
  screen.fill({0, top, kWidth, row.box.y2}, mix(setting_color(row.id), kPaper, 78));
  screen.put(sprites().setting_labels[id], 3, top + 6);
  screen.put(sprites().settings[id][on], 58, top + 1);
  screen.put(sprites().switches[on], 86, top + 6);
}

void draw_person_row(const Target& row, Screen& screen) {
  const auto id = static_cast<std::size_t>(row.id);
  screen.fill({0, row.box.y1, kWidth, row.box.y2}, mix(person_color(row.id), kPaper, 78));
  screen.put(sprites().people_labels[id], 3, row.box.y1 + 5);
  screen.put(sprites().people[id], 58, row.box.y1 + 1);
}

void draw_person(const Target& person, const State& state, Screen& screen) {
  const auto id = static_cast<std::size_t>(person.id);
  if (state.page == Page::contacts) return draw_person_row(person, screen);
  if (state.page == Page::confirm) {
    screen.put(sprites().people_labels[id], 6, 62);
    screen.put_in(sprites().people[id], person.box);
  } else {
    screen.put_in(sprites().large_people[id], person.box);
    screen.put(sprites().people_labels[id], 33, 90);
  }
}

void draw_target(const Target& target, const State& state, Screen& screen) {
  const auto id = static_cast<std::size_t>(target.id);
  switch (target.kind) {
    case TargetKind::app:
      if (state.page == Page::app) return screen.put_in(sprites().large_apps[id], target.box);
      screen.put_in(sprites().apps[id], target.box);
      if (target.active) screen.put(sprites().app_labels[id], target.box.x1 - 2, target.box.y2 + 1);
      return;
    case TargetKind::setting:
      return draw_setting_row(target, state, screen);
    case TargetKind::contact:
      return draw_person(target, state, screen);
    case TargetKind::key:
      return screen.put_in(sprites().keys[id], target.box);
    case TargetKind::button:
      return screen.put_in(sprites().buttons[id], target.box);
  }
}

// The digits typed; once they are entered, the code on green.
void draw_display(const State& state, Screen& screen) {
  const bool shows_entered = state.display.empty() && !state.entered.empty();
  screen.fill({6, 40, kWidth - 6, 72}, {120, 128, 140});
  screen.fill({7, 41, kWidth - 7, 71}, shows_entered ? Color{130, 225, 140} : kPaper);
  int left = 12;
  for (char digit : shows_entered ? state.entered : state.display) {
    screen.put(sprites().digits[static_cast<std::size_t>(digit - '0')], left, 46);
    left += 15;
  }
}

}  // namespace

Image draw_screen(const Layout& layout, const State& state) {
  const Color wallpaper = kWallpapers[static_cast<std::size_t>(layout.wallpaper)];
  Screen screen(wallpaper);
  if (state.page != Page::home) draw_title(layout, state, screen);
  if (state.page == Page::keypad) draw_display(state, screen);
  if (state.page == Page::confirm) {
    screen.fill({0, kCell, kWidth, kHeight}, {90, 96, 106});
    screen.fill({0, 36, kWidth, kHeight}, wallpaper);
    screen.put(sprites().question, 24, 40);
  }
  for (const Target& target : targets(layout, state)) draw_target(target, state, screen);
  return std::move(screen).image();
}

}  // namespace agon::env::phone
