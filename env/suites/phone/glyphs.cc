#include "env/suites/phone/glyphs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "env/suites/phone/state.h"

namespace agon::env::phone {
namespace {

using Glyph = void (*)(const Pen&);

Point around(double radius, double turn) {
  const double angle = turn * 2 * std::numbers::pi;
  return {12 + radius * std::sin(angle), 12 - radius * std::cos(angle)};
}

void gear(const Pen& pen) {
  for (int tooth = 0; tooth < 4; ++tooth) pen.line(around(8.2, tooth / 8.0), around(8.2, tooth / 8.0 + 0.5), 4);
  pen.disc(12, 12, 6.6);
  pen.cut().disc(12, 12, 3);
}

void person(const Pen& pen) {
  pen.disc(12, 8.5, 4.2);
  pen.round_box(5, 14, 19, 26, 6);
  pen.cut().box(0, 20.5, 24, 24);
}

void nine_dots(const Pen& pen) {
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) pen.disc(6 + 6 * column, 6 + 6 * row, 2.1);
}

void note(const Pen& pen) {
  pen.disc(7.5, 17, 3);
  pen.disc(16.5, 15, 3);
  pen.line({9.7, 17}, {9.7, 6}, 1.8);
  pen.line({18.7, 15}, {18.7, 4}, 1.8);
  pen.shape({{8.8, 5}, {19.6, 3}, {19.6, 7}, {8.8, 9}});
}

void camera(const Pen& pen) {
  pen.round_box(3, 7, 21, 19, 2.5);
  pen.box(8.5, 4.5, 15.5, 8);
  pen.cut().disc(12, 13, 4.4);
  pen.disc(12, 13, 2.4);
}

void pin(const Pen& pen) {
  pen.disc(12, 9.5, 6);
  pen.shape({{6.6, 12}, {17.4, 12}, {12, 21.5}});
  pen.cut().disc(12, 9.5, 2.5);
}

void envelope(const Pen& pen) {
  pen.round_box(3, 6, 21, 18.5, 1.5);
  pen.cut().line({3.5, 7}, {12, 13.5}, 1.6);
  pen.cut().line({20.5, 7}, {12, 13.5}, 1.6);
}

void clock_face(const Pen& pen) {
  pen.disc(12, 12, 9);
  pen.cut().line({12, 12}, {12, 6}, 2);
  pen.cut().line({12, 12}, {16.5, 14.5}, 2);
}

void calendar(const Pen& pen) {
  pen.round_box(4, 5.5, 20, 20, 2);
  pen.box(7, 3, 9, 7);
  pen.box(15, 3, 17, 7);
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 3; ++column) {
      const double x = 6.2 + 4.3 * column, y = 10.2 + 4.6 * row;
      pen.cut().box(x, y, x + 3, y + 3);
    }
}

void cloud(const Pen& pen) {
  pen.disc(8, 14.5, 4.2);
  pen.disc(13, 10.8, 5.2);
  pen.disc(17.3, 15, 3.7);
  pen.box(8, 14.5, 17.5, 18.7);
}

void game_pad(const Pen& pen) {
  pen.round_box(2.5, 7, 21.5, 17.5, 5);
  pen.cut().box(6.9, 9.2, 8.9, 15.2);
  pen.cut().box(4.9, 11.2, 10.9, 13.2);
  pen.cut().disc(15, 13.6, 1.5);
  pen.cut().disc(18, 10.8, 1.5);
}

void lines_of_text(const Pen& pen) {
  for (double y : {6.0, 10.5, 15.0}) pen.box(4.5, y - 1.1, 19.5, y + 1.1);
  pen.box(4.5, 18.4, 13, 20.6);
}

void mountains(const Pen& pen) {
  pen.shape({{2.5, 19.5}, {9.5, 8}, {16.5, 19.5}});
  pen.shape({{11, 19.5}, {16.2, 12}, {21.5, 19.5}});
  pen.disc(17, 7, 2.4);
}

void waves(const Pen& pen) {
  for (double radius : {10.5, 6.6}) {
    pen.disc(12, 17, radius);
    pen.cut().disc(12, 17, radius - 2.1);
  }
  pen.cut().shape({{12, 17.5}, {-10, -6}, {-10, 24}});
  pen.cut().shape({{12, 17.5}, {34, -6}, {34, 24}});
  pen.cut().box(0, 17.5, 24, 24);
  pen.disc(12, 17, 2.2);
}

void bluetooth(const Pen& pen) {
  pen.line({12, 3.5}, {12, 20.5}, 2);
  pen.line({12, 3.5}, {16.5, 7.8}, 2);
  pen.line({16.5, 7.8}, {7, 16}, 2);
  pen.line({7, 8}, {16.5, 16.2}, 2);
  pen.line({16.5, 16.2}, {12, 20.5}, 2);
}

void loudspeaker(const Pen& pen) {
  pen.box(3.5, 9, 7.5, 15);
  pen.shape({{7, 9}, {13, 4}, {13, 20}, {7, 15}});
  pen.line({16, 9}, {16, 15}, 2);
  pen.line({19.5, 6.5}, {19.5, 17.5}, 2);
}

void cross_hair(const Pen& pen) {
  pen.disc(12, 12, 7.2);
  pen.cut().disc(12, 12, 5);
  pen.disc(12, 12, 2.4);
  for (double turn : {0.0, 0.25, 0.5, 0.75}) pen.line(around(6, turn), around(9.8, turn), 2);
}

void lamp(const Pen& pen) {
  pen.shape({{6.5, 3.5}, {17.5, 3.5}, {15, 10}, {9, 10}});
  pen.box(9, 11, 15, 20.5);
  pen.cut().box(11.2, 13, 12.8, 16);
}

void moon(const Pen& pen) {
  pen.disc(11, 12.5, 8.5);
  pen.cut().disc(15.5, 9.5, 7);
}

void aeroplane(const Pen& pen) {
  pen.line({12, 3.5}, {12, 19.5}, 3);
  pen.shape({{12, 8}, {22, 14.5}, {22, 16.5}, {12, 13.5}, {2, 16.5}, {2, 14.5}});
  pen.shape({{12, 17}, {16.5, 20}, {16.5, 21.5}, {7.5, 21.5}, {7.5, 20}});
}

void cell_of_battery(const Pen& pen) {
  pen.round_box(6.5, 5, 17.5, 21, 1.5);
  pen.box(9.5, 2.8, 14.5, 6);
  pen.cut().shape({{13.6, 7}, {9, 13.6}, {11.7, 13.6}, {10.4, 19}, {15, 12}, {12.3, 12}});
}

void bin(const Pen& pen) {
  pen.box(4, 5.5, 20, 8);
  pen.box(9, 3, 15, 6);
  pen.shape({{5.5, 9.3}, {18.5, 9.3}, {17.2, 21}, {6.8, 21}});
  for (double x : {9.3, 12.0, 14.7}) pen.cut().line({x, 11.5}, {x, 18.8}, 1.3);
}

void check(const Pen& pen) {
  pen.line({5, 12.5}, {10, 17.5}, 3.4);
  pen.line({10, 17.5}, {19, 7}, 3.4);
}

void cross(const Pen& pen) {
  pen.line({6.5, 6.5}, {17.5, 17.5}, 3.4);
  pen.line({17.5, 6.5}, {6.5, 17.5}, 3.4);
}

constexpr std::array<Glyph, kApps.size()> kAppGlyphs{gear,     person,        nine_dots,  note,     camera,
                                                     pin,      envelope,      clock_face, calendar, cloud,
                                                     game_pad, lines_of_text, mountains};
constexpr std::array<Glyph, kSettings.size()> kSettingGlyphs{waves, bluetooth, loudspeaker, cross_hair,
                                                             lamp,  moon,      aeroplane,   cell_of_battery};
constexpr std::array<Glyph, kButtons.size()> kButtonGlyphs{bin, check, cross};

}  // namespace

void Pen::disc(double x, double y, double radius) const {
  canvas_.circle({x * scale_, y * scale_}, radius * scale_, ink_);
}

void Pen::box(double x1, double y1, double x2, double y2) const {
  canvas_.rectangle({x1 * scale_, y1 * scale_, x2 * scale_, y2 * scale_}, ink_);
}

void Pen::round_box(double x1, double y1, double x2, double y2, double radius) const {
  box(x1 + radius, y1, x2 - radius, y2);
  box(x1, y1 + radius, x2, y2 - radius);
  for (double x : {x1 + radius, x2 - radius})
    for (double y : {y1 + radius, y2 - radius}) disc(x, y, radius);
}

void Pen::shape(std::initializer_list<Point> corners) const {
  std::vector<Point> scaled;
  for (const Point& corner : corners) scaled.push_back({corner.x * scale_, corner.y * scale_});
  canvas_.polygon(scaled, ink_);
}

void Pen::line(Point from, Point to, double thickness) const {
  const int pixels = std::max(1, static_cast<int>(std::lround(thickness * scale_)));
  canvas_.line({from.x * scale_, from.y * scale_}, {to.x * scale_, to.y * scale_}, ink_, pixels);
}

void Pen::letters(double center_x, double center_y, double height, const std::string& text, double thickness) const {
  const double high = height * scale_;
  const double left = center_x * scale_ - Canvas::text_width(text, high) / 2;
  const int pixels = std::max(1, static_cast<int>(std::lround(thickness * scale_)));
  canvas_.text({left, center_y * scale_ + high / 2}, text, high, ink_, pixels);
}

void draw_app(int app, const Pen& pen) { kAppGlyphs[static_cast<std::size_t>(app)](pen); }
void draw_setting(int setting, const Pen& pen) { kSettingGlyphs[static_cast<std::size_t>(setting)](pen); }
void draw_button(int button, const Pen& pen) { kButtonGlyphs[static_cast<std::size_t>(button)](pen); }

void draw_clear(const Pen& pen) { cross(pen); }

void draw_enter(const Pen& pen) {
  pen.line({18, 5}, {18, 13}, 3);
  pen.line({18, 13}, {9, 13}, 3);
  pen.shape({{3.5, 13}, {11, 7.5}, {11, 18.5}});
}

}  // namespace agon::env::phone
