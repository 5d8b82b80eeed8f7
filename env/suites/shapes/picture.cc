#include "env/suites/shapes/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace agon::env {
namespace {

// Corners of a form in the unit square, which it fills; empty for the circle.
std::vector<Point> outline(Form form) {
  static constexpr double kArm = 0.32;  // of the cross: where an arm begins
  switch (form) {
    case Form::circle:
      return {};
    case Form::square:
      return {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    case Form::triangle:
      return {{0.5, 0}, {1, 1}, {0, 1}};
    case Form::diamond:
      return {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}};
    case Form::cross:
      return {{kArm, 0},     {1 - kArm, 0}, {1 - kArm, kArm}, {1, kArm},     {1, 1 - kArm}, {1 - kArm, 1 - kArm},
              {1 - kArm, 1}, {kArm, 1},     {kArm, 1 - kArm}, {0, 1 - kArm}, {0, kArm},     {kArm, kArm}};
    case Form::star:
      break;
  }
  std::vector<Point> star;
  const double half_width = std::sin(0.4 * std::numbers::pi), height = 1 + std::cos(0.2 * std::numbers::pi);
  for (int i = 0; i < 10; ++i) {
    const double angle = i * 0.2 * std::numbers::pi, radius = i % 2 ? 0.42 : 1;
    star.push_back({0.5 + radius * std::sin(angle) / (2 * half_width), (1 - radius * std::cos(angle)) / height});
  }
  return star;
}

const std::vector<Point>& cached_outline(Form form) {
  static const std::array<std::vector<Point>, kForms> kOutlines = [] {
    std::array<std::vector<Point>, kForms> outlines;
    for (int i = 0; i < kForms; ++i) outlines[std::size_t(i)] = outline(static_cast<Form>(i));
    return outlines;
  }();
  return kOutlines[static_cast<std::size_t>(form)];
}

}  // namespace

void draw_shape(Canvas& canvas, const Shape& shape) {
  const Color color = palette()[static_cast<std::size_t>(shape.color)].color;
  const Box& box = shape.box;
  const double side = box.x2 - box.x1;
  if (shape.form == Form::circle) return canvas.circle({box.x1 + side / 2, box.y1 + side / 2}, side / 2, color);
  std::vector<Point> corners = cached_outline(shape.form);
  for (Point& corner : corners) corner = {box.x1 + corner.x * side, box.y1 + corner.y * side};
  canvas.polygon(corners, color);
}

std::string shape_class(int color, Form form) {
  return std::string(palette()[static_cast<std::size_t>(color)].name) + " " + std::string(to_string(form));
}

std::vector<std::string> shape_classes() {
  std::vector<std::string> classes;
  for (int color = 0; color < kShapeColors; ++color)
    for (int form = 0; form < kForms; ++form) classes.push_back(shape_class(color, static_cast<Form>(form)));
  std::sort(classes.begin(), classes.end());
  return classes;
}

}  // namespace agon::env
