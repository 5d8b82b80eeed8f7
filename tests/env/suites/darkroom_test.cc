#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "check_env.h"
#include "core/error.h"
#include "core/text.h"
#include "effort.h"
#include "env/kit/draw.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "env/suite.h"
#include "env/suites/charts/picture.h"
#include "env/suites/darkroom/task.h"
#include "golden/text.h"
#include "suite_checks.h"

using namespace agon;
using namespace agon::env;
using agon::test::expert;
using agon::test::text_of;
using Catch::Contains;

namespace {

std::unique_ptr<Env> darkroom_at(int level) { return make_env("darkroom", {.level = level}); }

const Image& picture_of(const StepResult& result) {
  for (const Part& part : result.observation.parts)
    if (part.is_image()) return part.image;
  FAIL("no picture");
  throw 0;
}

Action code(const std::string& text) { return {wrap(Tag::code, text), {}}; }

// A task of that kind.
std::unique_ptr<Env> task_of_kind(const std::string& kind, int level = 1) {
  auto env = darkroom_at(level);
  for (std::uint64_t index = 0; index < kTestTasks; ++index) {
    env->reset({Split::test, index});
    if (env->task().kind == kind) return env;
  }
  throw Error("no task of kind {}", kind);
}

DarkroomTask drawn(int level, std::uint64_t index) {
  Rng rng = task_stream("darkroom", level, {Split::test, index});
  return draw_darkroom_task(level, Split::test, rng);
}

}  // namespace

TEST_CASE("darkroom: the expert names, mends and answers, on every level and split") {
  for (int level : {1, 2})
    for (Split split : {Split::test, Split::train}) {
      const auto env = darkroom_at(level);
      for (std::uint64_t index = 0; index < test::rounds(40); ++index) {
        env->reset({split, index, 7});
        CHECK(expert(*env).size() == (env->task().kind == "none" ? 2U : 3U));
        test::check_expert_episode(*env);
      }
    }
}

TEST_CASE("darkroom: every kind of defect occurs, alone when simple and in twos when hard") {
  std::map<int, std::set<std::string>> kinds;
  for (int level : {1, 2})
    for (std::uint64_t index = 0; index < 300; ++index) {
      const DarkroomTask task = drawn(level, index);
      kinds[level].insert(task.kind);
      CHECK(task.defects.size() <= static_cast<std::size_t>(level));
      if (level == 2) CHECK(task.defects.size() == 2);
    }
  CHECK(kinds[1] ==
        std::set<std::string>{"blur", "crop", "dark", "noise", "none", "overexposure", "rotation180", "rotation90"});
  CHECK(kinds[2].size() == 19);
}

TEST_CASE("darkroom: defects do harm, and the expert's code takes most of it away") {
  for (int level : {1, 2}) {
    const auto env = darkroom_at(level);
    for (std::uint64_t index = 0; index < test::rounds(60); ++index) {
      const DarkroomTask task = drawn(level, index);
      const StepResult first = env->reset({Split::test, index});
      REQUIRE(picture_of(first) == task.shown.picture);
      if (task.kind == "none") {
        CHECK(task.shown.picture == task.clean);
        continue;
      }
      INFO(task.kind);
      const double before = distance_from_clean(task, task.shown.picture);
      CHECK(before > 10);
      const double after = distance_from_clean(task, picture_of(env->step({mending_turn(task, task.defects), {}})));
      CHECK(after < 0.9 * before);
      CHECK(after < 35);
    }
  }
}

TEST_CASE("darkroom: objects lie where the bars are, turned with the picture") {
  for (const std::string kind : {"none", "dark", "blur", "rotation90", "rotation180"}) {
    const auto env = task_of_kind(kind);
    const StepResult first = env->fork()->reset({Split::test, 0});
    INFO(kind << " " << env->task().id);
    const std::uint64_t index = std::stoull(env->task().id.substr(env->task().id.rfind('/') + 1));
    const DarkroomTask task = drawn(1, index);
    const Json objects = darkroom_objects(task, task.shown.picture);
    const Json upright = chart_objects(task.chart);
    REQUIRE(objects.size() == upright.size());
    const Image sharp = turned(task.clean, kind == "rotation90" ? 1 : kind == "rotation180" ? 2 : 0);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      CHECK(objects[i]["name"] == upright[i]["name"]);
      const Json& box = objects[i]["box"];
      const auto middle = [&](std::size_t a) { return (box[a].get<double>() + box[a + 2].get<double>()) / 2; };
      const auto at =
          static_cast<std::size_t>(static_cast<int>(middle(1)) * sharp.width() + static_cast<int>(middle(0)));
      const Color color = palette()[static_cast<std::size_t>(task.chart.bars[i].color)].color;
      CHECK(sharp.rgb()[at * 3] == color.red);
      CHECK(sharp.rgb()[at * 3 + 2] == color.blue);
    }
  }
  CHECK(darkroom_objects(drawn(1, 0), Image(112, 112, std::vector<std::uint8_t>(112 * 112 * 3, 7))).empty());
}

TEST_CASE("darkroom: tips follow what was named, right or wrong") {
  const auto env = task_of_kind("dark");
  const auto said = [&](const std::string& names) {
    return env->fork()->step({"<problem>" + names + "</problem>", {}});
  };
  CHECK(said("{'dark'}").step_correct == true);
  CHECK(said("dark").step_correct == true);
  CHECK(said("{'blur', 'dark'}").step_correct == false);
  CHECK_THAT(text_of(said("{'blur', 'dark'}")), Contains("dark, blur"));
  CHECK_THAT(text_of(said("{'crop'}")), Contains("Cut the region"));
  CHECK_THAT(text_of(said("{'none'}")), Contains("Answer"));
  for (const char* bad : {"", "{}", "{'foggy'}", "{'none', 'dark'}", "{'dark'", "\xff"}) {
    const StepResult result = said(bad);
    INFO(bad);
    CHECK(result.refused.has_value() == (parse_defects(bad) == std::nullopt));
    CHECK_FALSE(result.terminated);
  }
}

TEST_CASE("darkroom: defects and descriptions are read as they are written") {
  for (int first = 0; first < kDefects; ++first)
    for (int second = 0; second < kDefects; ++second) {
      const Defects defects{static_cast<Defect>(first), static_cast<Defect>(second)};
      CHECK(parse_defects(format_defects(defects)) == defects);
      CHECK(parse_description_of_defects(describe_defects(defects)) == defects);
    }
  CHECK(format_defects({}) == "{'none'}");
  CHECK(parse_defects("{'none'}") == Defects{});
  CHECK(parse_description_of_defects(describe_defects({})) == Defects{});
  CHECK(parse_defects("{\"rotation90\",\"dark\"}") == Defects{Defect::rotation90, Defect::dark});
  CHECK_FALSE(parse_defects("rotation"));
  CHECK_FALSE(parse_description_of_defects("The picture is too dark and odd."));
}

TEST_CASE("darkroom: what goes wrong in code is told, costs a turn, and ends nothing") {
  const auto env = task_of_kind("noise");
  const StepResult wrong = env->step(code("print('so far')\n1 / 0"));
  CHECK_THAT(text_of(wrong), Contains("so far") && Contains("ZeroDivisionError"));
  CHECK(wrong.step_correct == false);
  REQUIRE(wrong.tool_calls.size() == 1);
  const ToolAttempt& call = wrong.tool_calls[0];
  CHECK(call.tool == "python");
  CHECK(call.arguments["code"] == "print('so far')\n1 / 0");
  CHECK(call.outcome == "failed");
  CHECK(call.seconds > 0);
  CHECK(call.bytes > 0);
  CHECK_THAT(text_of(env->step(code("x = 1"))), Contains("printed nothing"));
  CHECK(text_of(env->step(code("print(x)"))) == "1");
  CHECK(env->step({"nothing", {}}).refused.has_value());
  const StepResult last = env->step(code("print(x + 1)"));
  CHECK(last.truncated);
  CHECK(last.success == false);
  CHECK(env->step({wrap(Tag::answer, "1"), {}}).refused.has_value());
}

TEST_CASE("darkroom: the picture that code makes is seen next, and more code works on it") {
  const auto env = task_of_kind("dark");
  const StepResult lighter = env->step(
      code("import cv2\np = cv2.imread('path_to_input_image.jpg')\ncv2.imwrite('path_to_output_image.jpg', p * 2)"));
  REQUIRE(lighter.observation.parts.size() == 1);
  const StepResult again = env->step(
      {"",
       {{"1",
         "python",
         {{"code", "p = cv2.imread('path_to_input_image.jpg')\ncv2.imwrite('path_to_output_image.jpg', p * 2)"}}}}});
  CHECK(mean_difference(picture_of(again), picture_of(lighter)) > 5);
  CHECK(again.step_correct == true);
}

TEST_CASE("darkroom: forks have independent futures, in variables and in files") {
  const auto env = task_of_kind("noise");
  env->step(code("x = [1]\nopen('file', 'w').write('one')"));
  const auto fork = env->fork();
  fork->step(code("x.append(2)\nopen('file', 'w').write('two')"));
  CHECK(text_of(env->step(code("print(x, open('file').read())"))) == "[1] one");
  CHECK(text_of(fork->step(code("print(x, open('file').read())"))) == "[1, 2] two");
  fork->reset({Split::test, 0});
  CHECK_THAT(text_of(fork->step(code("print('x' in globals())"))), Contains("False"));
  CHECK(text_of(env->step(code("print(x)"))) == "[1]");
  CHECK(env->step(expert(*env).back()).success == true);
}

TEST_CASE("darkroom: steps are labelled by what is so and by what code does, which is not seen by the episode") {
  const auto env = task_of_kind("rotation90");
  const auto verdict = [&](const std::string& step) {
    const auto label = env->check_step({"", step});
    if (!label) return std::string("unknown");
    CHECK(label->correct == label->reason.empty());
    return fmt::format("{} {}", label->correct ? "right" : "wrong", to_string(label->kind));
  };
  const auto rotating = [&](const std::string& way) {
    return wrap(Tag::code, "import cv2\np = cv2.imread('path_to_input_image.jpg')\np = cv2.rotate(p, cv2.ROTATE_90_" +
                               way + ")\ncv2.imwrite('path_to_output_image.jpg', p)");
  };
  CHECK(verdict("The picture is on its right side.") == "right perception");
  CHECK(verdict("<think>The picture is fine.</think>") == "wrong perception");
  CHECK(verdict("<problem>{'rotation90'}</problem>") == "right perception");
  CHECK(verdict("<problem>{'rotation180'}</problem>") == "wrong perception");
  CHECK(verdict("<problem>{'odd'}</problem>") == "wrong perception");
  CHECK(verdict(rotating("COUNTERCLOCKWISE")) == "right reasoning");
  CHECK(verdict(rotating("CLOCKWISE")) == "wrong reasoning");
  CHECK(verdict("<code>stolen = 1 / 0</code>") == "wrong reasoning");
  CHECK(verdict("Hm.") == "unknown");
  CHECK(verdict(expert(*env).back().text.substr(expert(*env).back().text.find("<answer>"))) == "right reasoning");
  CHECK_THAT(text_of(env->step(code("print('p' in globals())"))), Contains("False"));
}

TEST_CASE("darkroom: corrupted steps are wrong, of every kind that fits") {
  std::map<ErrorKind, int> made;
  for (int level : {1, 2}) test::check_corruptions(*darkroom_at(level), 20, made);
  CHECK(made[ErrorKind::misread_value] > 100);
  CHECK(made.size() >= 4);
}

TEST_CASE("darkroom: no train task has the chart of a test task, and every thread draws the same") {
  std::set<std::string> charts;
  for (int level : {1, 2})
    for (std::uint64_t index = 0; index < kTestTasks; index += 4) charts.insert(drawn(level, index).chart.content());
  for (int level : {1, 2})
    for (std::uint64_t index = 0; index < 250; ++index) {
      Rng rng = task_stream("darkroom", level, {Split::train, index, 9});
      CHECK_FALSE(charts.contains(draw_darkroom_task(level, Split::train, rng).chart.content()));
    }
  test::check_determinism("darkroom");
}

TEST_CASE("darkroom: baselines answer in one turn, without code") {
  for (const std::string baseline : {"direct", "cot"}) {
    const SuiteOptions options{.level = 2, .baseline = baseline};
    CHECK(Suite("darkroom", options).info().max_turns == 1);
    const auto env = make_env("darkroom", options);
    env->reset({Split::test, 1});
    REQUIRE(expert(*env).size() == 1);
    CHECK(env->fork()->step(expert(*env).front()).success == true);
    const StepResult no_tools = env->step(code("print(1)"));
    CHECK(no_tools.terminated);
    CHECK(to_json(no_tools) == Json{{"success", false}, {"step_correct", false}});
    CHECK(check_env(Suite("darkroom", options), 2, 1) == std::vector<std::string>{});
  }
  CHECK_THROWS_WITH(make_env("darkroom", {.baseline = "rag"}), Contains("There are: direct, cot"));
  CHECK_THROWS_WITH(make_env("charts", {.baseline = "cot"}), Contains("no tools"));
}

TEST_CASE("darkroom: the first tasks stay as they are") {
  std::string text;
  for (int level : {1, 2}) {
    const auto env = darkroom_at(level);
    for (std::uint64_t index = 0; index < 10; ++index) {
      const StepResult first = env->reset({Split::test, index});
      text += fmt::format("# {} {}\n{}\ngold {}\npicture {}\nobjects {}\n", env->task().id, env->task().kind,
                          env->task().prompt, env->task().gold.dump(), picture_of(first).hash().hex(),
                          first.info["objects"].dump());
      const std::vector<Action> actions = expert(*env);
      for (const Action& action : actions) text += action.text + "\n\n";
    }
  }
  test::check_golden_text("suites/darkroom.txt", text);
}
