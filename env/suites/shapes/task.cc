#include "env/suites/shapes/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"

namespace agon::env {
namespace {

constexpr int kMargin = 2, kGap = 4;  // pixels to the picture's border; between shapes
constexpr std::array<std::string_view, kForms> kFormNames{"circle", "square", "triangle", "star", "diamond", "cross"};
constexpr std::array<std::string_view, 4> kRelationNames{"left of", "right of", "above", "below"};
constexpr std::array<double, kShapeLevels> kRelationShare{0.1, 0.25, 0.4};
constexpr std::array<std::pair<int, int>, kShapeLevels> kCounts{{{1, 2}, {1, 4}, {3, 6}}};

bool touch(const Box& a, const Box& b) {
  return a.x1 < b.x2 + kGap && b.x1 < a.x2 + kGap && a.y1 < b.y2 + kGap && b.y1 < a.y2 + kGap;
}

std::optional<Box> free_place(const std::vector<Shape>& shapes, bool large, Rng& rng) {
  static constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    const int side = large ? rng.between(36, 46) : rng.between(22, 28);
    const int x = rng.between(kMargin, kShapesSide - kMargin - side);
    const int y = rng.between(kMargin, kShapesSide - kMargin - side);
    const Box box{double(x), double(y), double(x + side), double(y + side)};
    if (std::none_of(shapes.begin(), shapes.end(), [&](const Shape& shape) { return touch(shape.box, box); }))
      return box;
  }
  return std::nullopt;
}

// A shape that no other equals; half of the time it shares color or form with an earlier shape.
Shape draw_attributes(const std::vector<Shape>& shapes, Rng& rng) {
  for (;;) {
    Shape shape{rng.chance(0.5), rng.between(0, kShapeColors - 1), static_cast<Form>(rng.between(0, kForms - 1)), {}};
    if (!shapes.empty() && rng.chance(0.5)) {
      const Shape& other = rng.pick(shapes);
      if (rng.chance(0.5))
        shape.color = other.color;
      else
        shape.form = other.form;
    }
    const Description description = describe(shape);
    if (std::none_of(shapes.begin(), shapes.end(), [&](const Shape& other) { return description.fits(other); }))
      return shape;
  }
}

// Up to `wanted` shapes; a shape without a free place is left out.
std::vector<Shape> place_shapes(int wanted, Rng& rng) {
  std::vector<Shape> shapes;
  for (; wanted > 0; --wanted) {
    Shape shape = draw_attributes(shapes, rng);
    const std::optional<Box> box = free_place(shapes, shape.large, rng);
    if (!box) continue;
    shape.box = *box;
    shapes.push_back(shape);
  }
  return shapes;
}

std::vector<Shape> draw_shapes(int level, Rng& rng) {
  const auto [fewest, most] = kCounts[static_cast<std::size_t>(level - 1)];
  for (;;) {
    std::vector<Shape> shapes = place_shapes(rng.between(fewest, most), rng);
    if (static_cast<int>(shapes.size()) >= fewest) return shapes;
  }
}

// The attributes of a shape that the bits of `subset` (1..7) choose.
Description partial(const Shape& shape, int subset) {
  Description description;
  if (subset & 1) description.form = shape.form;
  if (subset & 2) description.color = shape.color;
  if (subset & 4) description.large = shape.large;
  return description;
}

bool fits_only(const Expression& expression, const std::vector<Shape>& shapes, int target) {
  const auto fitting = shapes_that_fit(expression, shapes);
  return fitting && *fitting == std::vector<int>{target};
}

// An expression that needs its relation; nothing if none was found.
std::optional<Expression> draw_relation(const std::vector<Shape>& shapes, int target, Rng& rng) {
  static constexpr int kTries = 40;
  for (int i = 0; i < kTries; ++i) {
    const int reference = rng.between(0, static_cast<int>(shapes.size()) - 1);
    if (reference == target) continue;
    Expression expression{partial(shapes[std::size_t(target)], rng.between(1, 7)),
                          static_cast<SpatialRelation>(rng.between(0, 3)),
                          partial(shapes[std::size_t(reference)], rng.between(1, 7))};
    const bool needed = !fits_only({expression.target, {}, {}}, shapes, target);
    const bool clear = fits_only({expression.reference, {}, {}}, shapes, reference);
    if (needed && clear && fits_only(expression, shapes, target)) return expression;
  }
  return std::nullopt;
}

Expression draw_attribute_expression(const std::vector<Shape>& shapes, int target, Rng& rng) {
  for (;;) {
    const Expression expression{partial(shapes[std::size_t(target)], rng.between(1, 7)), {}, {}};
    if (fits_only(expression, shapes, target)) return expression;
  }
}

std::string kind_of(const Expression& expression) {
  if (expression.relation) return "relation";
  const Description& target = expression.target;
  static constexpr std::array<const char*, 3> kNames{"one_attribute", "two_attributes", "three_attributes"};
  return kNames[std::size_t(target.large.has_value() + target.color.has_value() + target.form.has_value() - 1)];
}

std::string phrase(const Expression& expression, Rng& rng) {
  static const std::vector<std::string> kPhrases{"Find the {}.", "Where is the {}?", "Box the {}."};
  std::string object = to_string(expression.target);
  if (expression.relation)
    object +=
        fmt::format(" {} the {}", kRelationNames[std::size_t(*expression.relation)], to_string(expression.reference));
  return fmt::format(fmt::runtime(rng.pick(kPhrases)), object);
}

// Is `shape` on that side of `reference`? Nothing if only partly.
std::optional<bool> holds(SpatialRelation relation, const Box& shape, const Box& reference) {
  const auto before = [](double end, double start, double middle, double other_middle) -> std::optional<bool> {
    if (end <= start) return true;
    return middle >= other_middle ? std::optional<bool>(false) : std::nullopt;
  };
  const bool horizontal = relation == SpatialRelation::left_of || relation == SpatialRelation::right_of;
  const bool swapped = relation == SpatialRelation::right_of || relation == SpatialRelation::below;
  const Box& first = swapped ? reference : shape;
  const Box& second = swapped ? shape : reference;
  if (horizontal) return before(first.x2, second.x1, first.x1 + first.x2, second.x1 + second.x2);
  return before(first.y2, second.y1, first.y1 + first.y2, second.y1 + second.y2);
}

}  // namespace

std::string_view to_string(Form form) { return kFormNames[static_cast<std::size_t>(form)]; }

bool Description::fits(const Shape& shape) const {
  return large.value_or(shape.large) == shape.large && color.value_or(shape.color) == shape.color &&
         form.value_or(shape.form) == shape.form;
}

Description describe(const Shape& shape) { return {shape.large, shape.color, shape.form}; }

std::string to_string(const Description& description) {
  std::string text;
  if (description.large) text += *description.large ? "large " : "small ";
  if (description.color) text += std::string(palette()[std::size_t(*description.color)].name) + " ";
  return text + std::string(description.form ? to_string(*description.form) : "shape");
}

std::optional<Description> parse_description(std::string_view text) {
  Description description;
  for (const std::string& word : split(trim(text), " ")) {
    if (word == "small" || word == "large") {
      description.large = word == "large";
      continue;
    }
    const auto color =
        std::find_if(palette().begin(), palette().end(), [&](auto& named) { return named.name == word; });
    const auto form = std::find(kFormNames.begin(), kFormNames.end(), word);
    if (color != palette().end())
      description.color = static_cast<int>(color - palette().begin());
    else if (form != kFormNames.end())
      description.form = static_cast<Form>(form - kFormNames.begin());
    else if (word != "the" && word != "shape")
      return std::nullopt;
  }
  return description == Description{} ? std::nullopt : std::optional(description);
}

std::optional<std::vector<int>> shapes_that_fit(const Expression& expression, std::span<const Shape> shapes) {
  std::vector<int> fitting;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!expression.target.fits(shapes[i])) continue;
    bool on_side = !expression.relation;
    if (expression.relation)
      for (std::size_t j = 0; j < shapes.size(); ++j) {
        if (j == i || !expression.reference.fits(shapes[j])) continue;
        const std::optional<bool> held = holds(*expression.relation, shapes[i].box, shapes[j].box);
        if (!held) return std::nullopt;
        on_side = on_side || *held;
      }
    if (on_side) fitting.push_back(static_cast<int>(i));
  }
  return fitting;
}

std::string ShapeTask::content() const {
  std::string text;
  const auto add = [&](double number) { text += static_cast<char>(number); };
  for (const Shape& shape : shapes) {
    add(shape.large), add(shape.color), add(static_cast<int>(shape.form));
    add(shape.box.x1), add(shape.box.y1), add(shape.box.x2);
  }
  text += to_string(expression.target);
  if (expression.relation) add(static_cast<int>(*expression.relation)), text += to_string(expression.reference);
  return text;
}

ShapeTask draw_shape_task(int level, Rng& rng) {
  ShapeTask task;
  task.shapes = draw_shapes(level, rng);
  task.target = rng.between(0, static_cast<int>(task.shapes.size()) - 1);
  std::optional<Expression> relation;
  if (rng.chance(kRelationShare[std::size_t(level - 1)])) relation = draw_relation(task.shapes, task.target, rng);
  task.expression = relation ? *relation : draw_attribute_expression(task.shapes, task.target, rng);
  task.kind = kind_of(task.expression);
  task.prompt = phrase(task.expression, rng);
  const int light = rng.between(195, 228);
  const auto channel = [&] { return static_cast<std::uint8_t>(light + rng.between(-12, 12)); };
  task.background = {channel(), channel(), channel()};
  task.texture_x = rng.between(0, 255);
  task.texture_y = rng.between(0, 255);
  return task;
}

Box box_in_thousandths(const Shape& shape) {
  static constexpr double kScale = 1000.0 / kShapesSide;
  return {shape.box.x1 * kScale, shape.box.y1 * kScale, shape.box.x2 * kScale, shape.box.y2 * kScale};
}

}  // namespace agon::env
