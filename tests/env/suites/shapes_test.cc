#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "effort.h"
#include "env/grading/box_text.h"
#include "env/kit/suite_task.h"
#include "env/suite.h"
#include "env/suites/shapes/task.h"
#include "golden/text.h"
#include "suite_checks.h"

namespace agon::env {
namespace {

Shape shape(bool large, int color, Form form, Box box) { return {large, color, form, box}; }

}  // namespace

TEST_CASE("shapes: demonstrations are right and earn most of the reward, corruptions are wrong") {
  test::check_demonstrations_and_corruptions("shapes", test::rounds(700), 0.8, 4);
}

TEST_CASE("shapes: the same tasks on every thread") { test::check_determinism("shapes"); }

TEST_CASE("shapes: bad turns") { test::check_bad_turns("shapes"); }

TEST_CASE("shapes: golden tasks") { test::check_golden_text("suites/shapes.txt", test::describe_tasks("shapes")); }

TEST_CASE("shapes: tasks are well posed and the splits are disjoint") {
  std::set<std::string> contents;
  for (const Split split : {Split::test, Split::train})
    for (int level = 1; level <= kShapeLevels; ++level)
      for (std::uint64_t i = 0; i < kTestTasks; ++i) {
        Rng rng = task_stream("shapes", level, {split, i, 1});
        const ShapeTask task = draw_task(
            rng, split, [&](Rng& stream) { return draw_shape_task(level, stream); },
            [](const ShapeTask& drawn) { return drawn.content(); });
        INFO(task.prompt);
        REQUIRE(shapes_that_fit(task.expression, task.shapes) == std::vector<int>{task.target});
        REQUIRE(task.shapes.size() >= std::size_t(level == 3 ? 3 : 1));
        REQUIRE(task.shapes.size() <= std::size_t(level == 1 ? 2 : level == 2 ? 4 : 6));
        for (std::size_t a = 0; a < task.shapes.size(); ++a) {
          const Box& box = task.shapes[a].box;
          const double side = box.x2 - box.x1;
          REQUIRE(side == box.y2 - box.y1);
          REQUIRE((task.shapes[a].large ? side >= 36 && side <= 46 : side >= 22 && side <= 28));
          REQUIRE((box.x1 >= 0 && box.y1 >= 0 && box.x2 <= kShapesSide && box.y2 <= kShapesSide));
          for (std::size_t b = 0; b < a; ++b) {
            REQUIRE(iou(box, task.shapes[b].box) == 0);
            REQUIRE_FALSE(describe(task.shapes[a]) == describe(task.shapes[b]));
          }
        }
        if (split == Split::test) contents.insert(task.content());
        if (split == Split::train) REQUIRE_FALSE(contents.contains(task.content()));
      }
  CHECK(contents.size() > 2900);
}

TEST_CASE("shapes: a relation fits what lies wholly on that side, a partly is no fit for a question") {
  const std::vector<Shape> shapes{shape(false, 0, Form::circle, {10, 40, 30, 60}),
                                  shape(true, 0, Form::circle, {70, 10, 110, 50}),
                                  shape(false, 2, Form::square, {40, 40, 60, 60})};
  const Description circle{{}, {}, Form::circle}, square{{}, {}, Form::square};
  CHECK(shapes_that_fit({circle, SpatialRelation::left_of, square}, shapes) == std::vector<int>{0});
  CHECK(shapes_that_fit({circle, SpatialRelation::right_of, square}, shapes) == std::vector<int>{1});
  CHECK(shapes_that_fit({circle, {}, {}}, shapes) == std::vector<int>{0, 1});
  CHECK_FALSE(shapes_that_fit({circle, SpatialRelation::above, square}, shapes));  // the large one overlaps in height
  CHECK(shapes_that_fit({{false, 0, {}}, SpatialRelation::below, square}, shapes) == std::vector<int>{});
}

TEST_CASE("shapes: descriptions round-trip") {
  for (const char* text : {"small red circle", "large shape", "blue shape", "star", "large cross"}) {
    const auto description = parse_description(text);
    REQUIRE(description);
    CHECK(to_string(*description) == text);
  }
  CHECK(parse_description("the small red circle") == parse_description("small red circle"));
  for (const char* text : {"", "shape", "the", "small red circle left", "pink circle", "[1,2,3,4]"})
    CHECK_FALSE(parse_description(text));
}

TEST_CASE("shapes: a step is the shape's name or its box") {
  const auto env = make_env("shapes", {2, ""});
  env->reset({Split::test, 0, 0});  // a small purple star at [625,89,839,304]
  const auto correct = [&](const std::string& step) { return env->check_step({"", step}).value().correct; };
  CHECK(correct("small purple star"));
  CHECK(correct("purple star"));
  CHECK_FALSE(correct("large purple star"));
  CHECK_FALSE(correct("small purple circle"));
  CHECK(correct("<answer>[620,80,840,300]</answer>"));
  CHECK_FALSE(correct("<answer>[0,80,240,300]</answer>"));
  CHECK_FALSE(correct("<answer>there</answer>"));
  CHECK_FALSE(env->check_step({"", "it is on the right"}));
  CHECK(env->check_step({"", "small purple star"})->kind == StepKind::perception);
  CHECK(env->check_step({"", "<answer>[620,80,840,300]</answer>"})->kind == StepKind::reasoning);
}

TEST_CASE("shapes: the reward is the IoU") {
  const auto env = make_env("shapes", {2, ""});
  env->reset({Split::test, 0, 0});
  const Json gold = env->task().gold;
  const Box box{gold[0], gold[1], gold[2], gold[3]};
  const Box half{box.x1, box.y1, box.x1 + (box.x2 - box.x1) / 2, box.y2};
  const StepResult result = env->step({"<answer>" + format_box(half) + "</answer>", {}});
  CHECK(result.reward.total == Approx(0.5).margin(0.02));
}

TEST_CASE("shapes: the picture fills each box and leaves what is around it") {
  const auto env = make_env("shapes", {3, ""});
  for (std::uint64_t i = 0; i < 100; ++i) {
    const StepResult first = env->reset({Split::train, i, 2});
    const Image& picture = first.observation.parts[0].image;
    for (const Json& object : first.info["objects"]) {
      const std::string name = object["name"].get<std::string>();
      const std::string color_name = name.substr(0, name.find(' '));
      const auto named =
          std::find_if(palette().begin(), palette().end(), [&](auto& c) { return c.name == color_name; });
      const auto like = [&](double x, double y) {  // nearer to the shape's color than to the light background
        const std::size_t at = (std::size_t(y) * kShapesSide + std::size_t(x)) * 3;
        const auto far = [&](std::size_t channel, int wanted) {
          return std::abs(int(picture.rgb()[at + channel]) - wanted);
        };
        return far(0, named->color.red) + far(1, named->color.green) + far(2, named->color.blue) < 80;
      };
      const double x1 = object["box"][0], y1 = object["box"][1], x2 = object["box"][2], y2 = object["box"][3];
      INFO(env->task().id << " " << object.dump());
      CHECK(like((x1 + x2) / 2, (y1 + y2) / 2));
      int left = 112, right = 0, top = 112, bottom = 0;  // extent of the color inside the box and two pixels around
      for (double y = std::max(y1 - 2, 0.0); y < std::min(y2 + 2, 112.0); ++y)
        for (double x = std::max(x1 - 2, 0.0); x < std::min(x2 + 2, 112.0); ++x)
          if (like(x, y)) {
            left = std::min(left, int(x)), right = std::max(right, int(x) + 1);
            top = std::min(top, int(y)), bottom = std::max(bottom, int(y) + 1);
          }
      CHECK(std::abs(left - x1) <= 2);
      CHECK(std::abs(right - x2) <= 2);
      CHECK(std::abs(top - y1) <= 2);
      CHECK(std::abs(bottom - y2) <= 2);
    }
  }
}

TEST_CASE("shapes: the declaration") {
  const SuiteInfo info = Suite("shapes").info();
  CHECK(info.object_classes.size() == 36);
  CHECK(std::is_sorted(info.object_classes.begin(), info.object_classes.end()));
  CHECK(info.metric == "iou>0.5");
}

}  // namespace agon::env
