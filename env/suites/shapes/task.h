// env/suites/shapes/task.h - a task of the suite shapes: colored shapes that do not touch, and an expression that fits
// exactly one of them. No two shapes of a task agree in size, color and form.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "env/grading/box.h"
#include "env/kit/draw.h"

namespace agon::env {

enum class Form { circle, square, triangle, star, diamond, cross };
inline constexpr int kForms = 6;
inline constexpr int kShapeColors = 6;  // the first six of palette()
std::string_view to_string(Form form);

struct Shape {
  bool large = false;
  int color = 0;  // index in palette()
  Form form = Form::circle;
  Box box;  // whole pixels
};

// A description by some of a shape's attributes.
struct Description {
  std::optional<bool> large;
  std::optional<int> color;
  std::optional<Form> form;
  bool operator==(const Description&) const = default;
  bool fits(const Shape& shape) const;
};
Description describe(const Shape& shape);                             // all attributes
std::string to_string(const Description& description);                // "small red circle"; "shape" if no form is named
std::optional<Description> parse_description(std::string_view text);  // nothing if there is any other word

enum class SpatialRelation { left_of, right_of, above, below };
// "The red circle left of the large square". It fits a shape that lies entirely on that side of the reference.
struct Expression {
  Description target;
  std::optional<SpatialRelation> relation;
  Description reference;
};

struct ShapeTask {
  std::string kind;  // "one_attribute", "two_attributes", "three_attributes", "relation"
  std::string prompt;
  std::vector<Shape> shapes;
  int target = 0;
  Expression expression;
  Color background;
  int texture_x = 0, texture_y = 0;

  std::string content() const;  // equal for tasks that differ only in wording and background
};

inline constexpr int kShapeLevels = 3;
inline constexpr int kShapesSide = 112;  // pixels

ShapeTask draw_shape_task(int level, Rng& rng);
Box box_in_thousandths(const Shape& shape);  // 0-1000 of the picture's sides
// The shapes that an expression fits; nothing if the fit of a shape is ambiguous (only partly on that side).
std::optional<std::vector<int>> shapes_that_fit(const Expression& expression, std::span<const Shape> shapes);

}  // namespace agon::env
