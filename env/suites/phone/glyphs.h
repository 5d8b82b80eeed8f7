// env/suites/phone/glyphs.h - draws the glyphs of the phone's apps, settings and buttons, each in a square of 24 units.
#pragma once

#include <initializer_list>
#include <string>

#include "env/kit/draw.h"

namespace agon::env::phone {

// Draws on a canvas in its own units, with an ink colour and a ground colour for shapes cut out of the ink.
class Pen {
 public:
  Pen(Canvas& canvas, double scale, Color ink, Color ground)
      : canvas_(canvas), scale_(scale), ink_(ink), ground_(ground) {}
  Pen(const Pen& other, Color ink, Color ground) : Pen(other.canvas_, other.scale_, ink, ground) {}

  Pen cut() const { return Pen(*this, ground_, ink_); }
  void disc(double x, double y, double radius) const;
  void box(double x1, double y1, double x2, double y2) const;
  void round_box(double x1, double y1, double x2, double y2, double radius) const;
  void shape(std::initializer_list<Point> corners) const;
  void line(Point from, Point to, double thickness) const;
  void letters(double center_x, double center_y, double height, const std::string& text, double thickness) const;

 private:
  Canvas& canvas_;
  double scale_;
  Color ink_, ground_;
};

// REQUIRES: the ids index kApps, kSettings and kButtons.
void draw_app(int app, const Pen& pen);
void draw_setting(int setting, const Pen& pen);
void draw_button(int button, const Pen& pen);
void draw_clear(const Pen& pen);  // the keys without a digit
void draw_enter(const Pen& pen);

}  // namespace agon::env::phone
