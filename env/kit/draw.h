// env/kit/draw.h - the canvas of the procedural suites: RGB with anti-aliased shapes, drawn by OpenCV. Coordinates are
// fractional pixels; the origin is the corner of the top left pixel, so the rectangle (0,0)-(1,1) is that pixel. The
// same calls give the same bytes on every thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/pictures/image.h"
#include "env/grading/box.h"

namespace agon::env {

struct Color {
  std::uint8_t red = 0, green = 0, blue = 0;
};

// The colours that tasks name: red, green, blue, yellow, purple, orange, cyan, gray (in that order).
struct NamedColor {
  std::string_view name;
  Color color;
};
std::span<const NamedColor> palette();

struct Point {
  double x = 0, y = 0;
};

class Canvas {
 public:
  Canvas(int width, int height, Color background);
  // Draws on a copy of a finished picture, such as a background that many tasks share.
  explicit Canvas(const Image& picture);
  // A background of `base` under a light texture, cut at (x, y) out of one fixed 256 x 256 tile that repeats.
  // REQUIRES: x, y >= 0; base channels in 10..245.
  static Canvas textured(int width, int height, Color base, int x, int y);

  void rectangle(const Box& box, Color color);  // filled; corners rounded to whole pixels
  void circle(Point center, double radius, Color color);
  void polygon(std::span<const Point> corners, Color color);  // filled; convex or not
  void line(Point from, Point to, Color color, int thickness = 1);
  // `at`: left end of the baseline. `height`: of a capital letter. ASCII only.
  void text(Point at, std::string_view text, double height, Color color, int thickness = 1);
  static double text_width(std::string_view text, double height);

  Image image() &&;  // the finished picture; the canvas is empty afterwards

 private:
  Canvas(int width, int height);
  int width_, height_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace agon::env
