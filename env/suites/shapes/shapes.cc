// The suite shapes: find the one shape that an expression describes, and box it.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "env/grading/box_text.h"
#include "env/kit/draw.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "env/suites/shapes/picture.h"
#include "env/suites/shapes/task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

constexpr double kOverlap = 0.5;    // a box is right above this IoU
constexpr double kAnswerGrid = 20;  // demonstrations round to this, so that the last digits carry no information

Image draw_picture(const ShapeTask& task) {
  Canvas canvas = Canvas::textured(kShapesSide, kShapesSide, task.background, task.texture_x, task.texture_y);
  for (const Shape& shape : task.shapes) draw_shape(canvas, shape);
  return std::move(canvas).image();
}

Json array_of(const Box& box) { return {box.x1, box.y1, box.x2, box.y2}; }

Json objects_of(const ShapeTask& task) {
  Json objects = Json::array();
  for (const Shape& shape : task.shapes)
    objects.push_back({{"name", shape_class(shape.color, shape.form)}, {"box", array_of(shape.box)}});
  return objects;
}

std::string answer_of(const Box& box) {
  const auto round = [](double value) { return std::round(value / kAnswerGrid) * kAnswerGrid; };
  return wrap(Tag::answer, format_box({round(box.x1), round(box.y1), round(box.x2), round(box.y2)}));
}

class Shapes : public SingleTurnEnv {
 public:
  explicit Shapes(int level) : level_(level) {}

  StepResult reset(const ResetOptions& options) override;
  std::unique_ptr<Env> fork() const override { return std::make_unique<Shapes>(*this); }

 protected:
  double accuracy(std::string_view text) const override {
    const std::optional<std::string> answer = extract_answer(text);
    const std::optional<Box> box = answer ? parse_box(*answer) : std::nullopt;
    return box ? iou(*box, gold()) : 0;
  }
  bool success(double accuracy) const override { return accuracy > kOverlap; }
  std::optional<std::string> solution() const override;
  std::optional<std::string> mistaken_solution(Rng& rng) const override;
  std::optional<StepLabel> label(const StepQuery& query) const override;
  std::optional<std::string> corrupted(const StepQuery& query, ErrorKind kind, Rng& rng) const override;

 private:
  const Shape& target() const { return picture_.shapes[static_cast<std::size_t>(picture_.target)]; }
  Box gold() const { return box_in_thousandths(target()); }
  std::vector<Shape> others() const;
  std::optional<std::string> corrupt_name(ErrorKind kind, Rng& rng) const;
  std::optional<std::string> corrupt_answer(ErrorKind kind, Rng& rng) const;

  int level_;
  ShapeTask picture_;
};

StepResult Shapes::reset(const ResetOptions& options) {
  Rng rng = task_stream("shapes", level_, options);
  picture_ = draw_task(
      rng, options.split, [this](Rng& stream) { return draw_shape_task(level_, stream); },
      [](const ShapeTask& task) { return task.content(); });
  start({task_id("shapes", level_, options), level_, picture_.kind, picture_.prompt, array_of(gold())});
  StepResult first;
  first.observation.parts = {Part::of(draw_picture(picture_)), Part::of(picture_.prompt)};
  first.info["objects"] = objects_of(picture_);
  return first;
}

std::optional<StepLabel> Shapes::label(const StepQuery& query) const {
  if (extract_answer(query.step)) {
    const bool right = accuracy(query.step) > kOverlap;
    return StepLabel{right, StepKind::reasoning, right ? "" : "the box is " + format_box(gold()), format_box(gold()),
                     *extract_answer(query.step)};
  }
  const std::optional<Description> named = parse_description(query.step);
  if (!named) return std::nullopt;
  const bool right = named->fits(target());
  const std::string is = to_string(describe(target()));
  return StepLabel{right, StepKind::perception, right ? "" : "it is the " + is, is, query.step};
}

std::optional<std::string> Shapes::solution() const {
  return to_string(describe(target())) + "\n\n" + answer_of(gold());
}

// Names and boxes another shape, or names the right one and boxes a wrong place.
std::optional<std::string> Shapes::mistaken_solution(Rng& rng) const {
  const std::vector<Shape> rest = others();
  if (!rest.empty() && rng.chance(0.5)) {
    const Shape& other = rng.pick(rest);
    return to_string(describe(other)) + "\n\n" + answer_of(box_in_thousandths(other));
  }
  const auto answer = corrupt_answer(rng.chance(0.5) ? ErrorKind::wrong_object : ErrorKind::misread_value, rng);
  return to_string(describe(target())) + "\n\n" + answer.value();
}

std::vector<Shape> Shapes::others() const {
  std::vector<Shape> shapes = picture_.shapes;
  shapes.erase(shapes.begin() + picture_.target);
  return shapes;
}

std::optional<std::string> Shapes::corrupt_name(ErrorKind kind, Rng& rng) const {
  const std::vector<Shape> rest = others();
  if (kind == ErrorKind::unjustified_jump) return corrupt_answer(ErrorKind::wrong_object, rng);
  if (kind == ErrorKind::wrong_object && !rest.empty()) return to_string(describe(rng.pick(rest)));
  if (kind == ErrorKind::misread_value) {
    Shape misread = target();
    const int attribute = rng.between(0, 2);
    if (attribute == 0) misread.large = !misread.large;
    if (attribute == 1) misread.color = (misread.color + rng.between(1, kShapeColors - 1)) % kShapeColors;
    if (attribute == 2)
      misread.form = static_cast<Form>((static_cast<int>(misread.form) + rng.between(1, kForms - 1)) % kForms);
    return to_string(describe(misread));
  }
  if (kind != ErrorKind::wrong_condition) return std::nullopt;
  std::vector<Shape> near;  // shapes that fit the expression except for its relation or some attribute
  const Description& wanted = picture_.expression.target;
  for (const Shape& shape : rest) {
    const bool shares = wanted.large == shape.large || wanted.color == shape.color || wanted.form == shape.form;
    if (picture_.expression.relation ? wanted.fits(shape) : shares) near.push_back(shape);
  }
  return near.empty() ? std::nullopt : std::optional(to_string(describe(rng.pick(near))));
}

std::optional<std::string> Shapes::corrupt_answer(ErrorKind kind, Rng& rng) const {
  const std::vector<Shape> rest = others();
  if (kind == ErrorKind::wrong_object && !rest.empty()) return answer_of(box_in_thousandths(rng.pick(rest)));
  if (kind != ErrorKind::misread_value && kind != ErrorKind::wrong_object) return std::nullopt;
  const Box box = gold();  // moved by 0.6 to 1.2 of its side, towards the roomier end
  const double shift = (box.x2 - box.x1) * (0.6 + 0.6 * rng.uniform());
  const bool sideways = rng.chance(0.5);
  const double middle = sideways ? (box.x1 + box.x2) / 2 : (box.y1 + box.y2) / 2;
  const double signed_shift = middle < 500 ? shift : -shift;
  const double dx = sideways ? signed_shift : 0, dy = sideways ? 0 : signed_shift;
  const auto bounded = [](double value) { return std::clamp(value, 0.0, 1000.0); };
  return answer_of({bounded(box.x1 + dx), bounded(box.y1 + dy), bounded(box.x2 + dx), bounded(box.y2 + dy)});
}

std::optional<std::string> Shapes::corrupted(const StepQuery& query, ErrorKind kind, Rng& rng) const {
  return extract_answer(query.step) ? corrupt_answer(kind, rng) : corrupt_name(kind, rng);
}

}  // namespace

SuiteDefinition shapes_suite(const SuiteOptions&) {
  SuiteInfo info;
  info.name = "shapes";
  info.description = "Grounding: box the one colored shape that an expression describes";
  info.instructions = "Name the shape. End with <answer>[x1,y1,x2,y2]</answer>.";
  info.levels = kShapeLevels;
  info.default_level = 2;
  info.test_tasks = kTestTasks;
  info.metric = "iou>0.5";
  info.observation_schema = message_schema();
  info.action_schema = text_action_schema(
      "The shape's size, color and form, a blank line, then <answer>[x1,y1,x2,y2]</answer> in 0-1000 of the picture.");
  info.object_classes = shape_classes();
  return {std::move(info), [](int level) { return std::make_unique<Shapes>(level); }};
}

}  // namespace agon::env
