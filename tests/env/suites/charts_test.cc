#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "core/text.h"
#include "effort.h"
#include "env/kit/draw.h"
#include "env/kit/suite_task.h"
#include "env/suite.h"
#include "env/suites/charts/claims.h"
#include "env/suites/charts/corrupt.h"
#include "env/suites/charts/steps.h"
#include "env/suites/charts/task.h"
#include "golden/text.h"
#include "suite_checks.h"

namespace agon::env {
namespace {

// Bars: red 4, blue 7, green 2.
ChartTask chart(Ask ask, std::vector<Term> terms, std::optional<Condition> condition = {}) {
  ChartTask task;
  task.bars = {{0, 4}, {2, 7}, {1, 2}};
  task.ask = ask;
  task.terms = std::move(terms);
  task.condition = condition;
  return task;
}
ChartTask red_plus_blue() { return chart(Ask::number, {{1, Pick::named, 0}, {1, Pick::named, 1}}); }

// "right", "wrong" or "unknown", with the kind of the step if it is known.
std::string verdict(const ChartTask& task, const std::string& before, const std::string& step) {
  const auto label = check_chart_step(task, {before, step});
  if (!label) return "unknown";
  CHECK(label->correct == label->reason.empty());
  return fmt::format("{} {}", label->correct ? "right" : "wrong", to_string(label->kind));
}

}  // namespace

TEST_CASE("charts: demonstrations are right and earn 1, corruptions are wrong") {
  test::check_demonstrations_and_corruptions("charts", test::rounds(1000), 0.999, 5);
}

TEST_CASE("charts: the same tasks on every thread") { test::check_determinism("charts"); }

TEST_CASE("charts: bad turns") { test::check_bad_turns("charts"); }

TEST_CASE("charts: golden tasks") { test::check_golden_text("suites/charts.txt", test::describe_tasks("charts")); }

TEST_CASE("charts: no train task has the content of a test task, at any level") {
  std::set<std::string> contents;
  const auto draw = [](int level, Split split, std::uint64_t index) {
    Rng rng = task_stream("charts", level, {split, index, 1});
    return draw_task(
               rng, split, [&](Rng& stream) { return draw_chart_task(level, stream); },
               [](const ChartTask& task) { return task.content(); })
        .content();
  };
  for (int level = 1; level <= kChartLevels; ++level)
    for (std::uint64_t i = 0; i < kTestTasks; ++i) contents.insert(draw(level, Split::test, i));
  CHECK(contents.size() > 2500);
  for (int level = 1; level <= kChartLevels; ++level)
    for (std::uint64_t i = 0; i < 5000; ++i) REQUIRE_FALSE(contents.contains(draw(level, Split::train, i)));
}

TEST_CASE("charts: levels differ in the number of bars, and every answer is in range") {
  for (const auto& [level, fewest, most] : {std::tuple{1, 2, 3}, {2, 4, 6}, {3, 6, 8}}) {
    std::set<std::size_t> counts;
    for (std::uint64_t i = 0; i < 500; ++i) {
      Rng rng(i);
      const ChartTask task = draw_chart_task(level, rng);
      counts.insert(task.bars.size());
      std::set<int> colors;
      for (const Bar& bar : task.bars) {
        colors.insert(bar.color);
        REQUIRE((bar.value >= 1 && bar.value <= 9));
      }
      REQUIRE(colors.size() == task.bars.size());
    }
    CHECK(*counts.begin() == static_cast<std::size_t>(fewest));
    CHECK(*counts.rbegin() == static_cast<std::size_t>(most));
  }
}

TEST_CASE("charts: a bar has its color up to the line of its value, and not above") {
  const auto env = make_env("charts", {3, ""});
  for (std::uint64_t i = 0; i < 100; ++i) {
    const StepResult first = env->reset({Split::train, i, 2});
    const Image& picture = first.observation.parts[0].image;
    REQUIRE(picture.width() == 112);
    const auto pixel = [&](double x, double y) {
      const std::size_t at = (static_cast<std::size_t>(y) * 112 + static_cast<std::size_t>(x)) * 3;
      return std::array{picture.rgb()[at], picture.rgb()[at + 1], picture.rgb()[at + 2]};
    };
    for (const Json& object : first.info["objects"]) {
      const std::string name = object["name"].get<std::string>().substr(4);
      const Json& box = object["box"];
      const double middle = (box[0].get<double>() + box[2].get<double>()) / 2, top = box[1];
      const auto named = std::find_if(palette().begin(), palette().end(), [&](auto& c) { return c.name == name; });
      const std::array color{named->color.red, named->color.green, named->color.blue};
      CHECK(pixel(middle, top) == color);
      CHECK(pixel(middle, box[3].get<double>() - 1) == color);
      CHECK(pixel(middle, top - 1) != color);
      CHECK(pixel(box[0], top) == color);
      CHECK(pixel(box[0].get<double>() - 1, top) != color);
      CHECK(pixel(box[2].get<double>() - 1, top) == color);
      CHECK(pixel(box[2], top) != color);
      CHECK(static_cast<int>(box[3].get<double>() - top) % 11 == 0);
    }
  }
}

TEST_CASE("charts: claims round-trip, and other text is no claim") {
  for (const char* text : {"red is 4", "blue is highest", "gray is lowest", "4 + 7 = 11", "2 - 5 = -3", "4 < 7",
                           "7 > 4", "above 5: blue, green", "below 3: none", "<answer>11</answer>"}) {
    const auto claim = parse_claim(text);
    REQUIRE(claim);
    CHECK(format_claim(*claim) == text);
  }
  CHECK(parse_claim("  Red IS 4. ") == parse_claim("red is 4"));
  CHECK(parse_claim("4+7=11") == parse_claim("4 + 7 = 11"));
  CHECK(parse_claim("blue is the highest") == parse_claim("blue is highest"));
  for (const char* text : {"", "red", "red is", "red is 4 5", "pink is 4", "4 + 7", "4 + = 11", "4 * 7 = 28", "above 5",
                           "above 5:", "above 5: red,", "above 5: none, red", "99999 + 1 = 100000", "reddish is 4", "-",
                           "so the answer is 11", "<answer>11"})
    CHECK_FALSE(parse_claim(text));
}

TEST_CASE("charts: readings are judged by the picture") {
  const ChartTask task = red_plus_blue();
  CHECK(verdict(task, "", "red is 4") == "right perception");
  CHECK(verdict(task, "", "green is 2") == "right perception");  // not asked for, but true
  CHECK(verdict(task, "", "red is 5") == "wrong perception");
  CHECK(verdict(task, "red is 5", "red is 5") == "wrong perception");
  CHECK(verdict(task, "", "gray is 4") == "wrong perception");
  CHECK(verdict(task, "", "red looks tall") == "unknown");
  CHECK(check_chart_step(task, {"", "red is 5"})->reason == "the red bar is 4, not 5");
}

TEST_CASE("charts: arithmetic must be right and follow from the question") {
  const ChartTask task = red_plus_blue();
  const std::string read = "red is 4\n\nblue is 7\n\n";
  CHECK(verdict(task, read, "4 + 7 = 11") == "right reasoning");
  CHECK(verdict(task, read, "7 + 4 = 11") == "right reasoning");
  CHECK(verdict(task, "", "4 + 7 = 11") == "right reasoning");
  CHECK(verdict(task, read, "4 + 7 = 12") == "wrong reasoning");
  CHECK(verdict(task, read, "7 - 4 = 3") == "wrong reasoning");
  CHECK(verdict(task, read, "4 + 2 = 6") == "wrong reasoning");  // green was not asked for
  CHECK(verdict(task, read, "4 + 4 = 8") == "wrong reasoning");  // red counts once
  // A misread value is blamed where it is read, not where it is used.
  CHECK(verdict(task, "red is 5\n\nblue is 7", "5 + 7 = 12") == "right reasoning");
  CHECK(verdict(task, "red is 5\n\nblue is 7", "4 + 7 = 11") == "wrong reasoning");
  CHECK(verdict(task, "red is 5\n\nred is 4", "4 + 7 = 11") == "right reasoning");
  CHECK(verdict(task, read + "4 + 7 = 11", "4 + 7 = 11") == "right reasoning");  // repeated
  CHECK(verdict(task, read + "4 + 7 = 11", "11 + 7 = 18") == "wrong reasoning");
}

TEST_CASE("charts: a sum of three is taken in any order, each result used once") {
  const ChartTask task = chart(Ask::number, {{1, Pick::named, 0}, {1, Pick::named, 1}, {-1, Pick::named, 2}});
  CHECK(verdict(task, "4 + 7 = 11", "11 - 2 = 9") == "right reasoning");
  CHECK(verdict(task, "4 - 2 = 2", "2 + 7 = 9") == "right reasoning");
  CHECK(verdict(task, "4 + 7 = 12", "12 - 2 = 10") == "right reasoning");  // the slip was the step before
  CHECK(verdict(task, "4 + 7 = 11", "4 - 2 = 2") == "wrong reasoning");
  CHECK(verdict(task, "4 + 7 = 11", "11 + 2 = 13") == "wrong reasoning");
  CHECK(verdict(task, "", "2 - 4 = -2") == "wrong reasoning");
}

TEST_CASE("charts: a sum of what the question does not join is held against what it does") {
  const auto held = [](const ChartTask& task, const std::string& before, const std::string& step) {
    const StepLabel label = check_chart_step(task, {before, step}).value();
    CHECK_FALSE(label.correct);
    return label.truth + " | " + label.claim;
  };
  const ChartTask sum = chart(Ask::number, {{1, Pick::named, 0}, {1, Pick::highest, 1}, {-1, Pick::named, 2}});
  CHECK(held(sum, "", "4 + 2 = 6") == "4 + 7 = 11 | 6");
  CHECK(held(sum, "red is 5", "2 + 7 = 9") == "5 + 7 = 12 | 9");
  CHECK(held(sum, "4 + 7 = 12", "12 - 4 = 8") == "12 - 2 = 10 | 8");
  CHECK(held(sum, "4 + 7 = 11\n\n11 - 2 = 9", "9 + 4 = 13") == " | 13");  // everything is summed
  CHECK(held(chart(Ask::higher, {{1, Pick::named, 0}, {1, Pick::named, 1}}), "", "4 + 2 = 6") == " | 6");

  const auto env = make_env("charts", {.level = GENERATE(2, 3)});
  Rng rng(1);
  int sums = 0;
  for (std::uint64_t index = 0; index < test::rounds(500); ++index) {
    env->reset({Split::train, index, 1});
    for (const StepQuery& query : test::queries_of(test::demonstration(*env)))
      if (const auto wrong = env->corrupt_step(query, ErrorKind::wrong_object, rng))
        if (std::holds_alternative<Arithmetic>(*parse_claim(query.step))) {
          ++sums;
          CHECK(env->check_step({query.before, *wrong})->truth == query.step);  // the expert's step
        }
  }
  CHECK(sums > test::rounds(100));
}

TEST_CASE("charts: extremes, conditions and comparisons are those of the question") {
  const ChartTask range = chart(Ask::number, {{1, Pick::highest, 0}, {-1, Pick::lowest, 0}});
  CHECK(verdict(range, "", "blue is highest") == "right reasoning");
  CHECK(verdict(range, "", "red is highest") == "wrong reasoning");
  CHECK(verdict(range, "red is 9", "red is highest") == "right reasoning");
  CHECK(verdict(range, "red is highest", "4 - 2 = 2") == "right reasoning");
  CHECK(verdict(range, "", "7 - 2 = 5") == "right reasoning");
  CHECK(verdict(red_plus_blue(), "", "blue is highest") == "wrong reasoning");

  const ChartTask count = chart(Ask::count, {}, Condition{true, 3, {}});
  CHECK(verdict(count, "", "above 3: red, blue") == "right reasoning");
  CHECK(verdict(count, "", "above 3: blue, red") == "right reasoning");
  CHECK(verdict(count, "", "above 3: blue") == "wrong reasoning");
  CHECK(verdict(count, "", "below 3: green") == "wrong reasoning");
  CHECK(verdict(count, "", "above 4: blue") == "wrong reasoning");
  CHECK(verdict(count, "", "<answer>2</answer>") == "right reasoning");
  CHECK(verdict(count, "", "<answer>3</answer>") == "wrong reasoning");
  CHECK(verdict(red_plus_blue(), "", "above 3: red, blue") == "wrong reasoning");

  const ChartTask than = chart(Ask::count, {}, Condition{true, 0, 0});  // higher than red
  CHECK(verdict(than, "", "above 4: blue") == "right reasoning");
  CHECK(verdict(than, "red is 1", "above 1: blue, green") == "right reasoning");

  const ChartTask sum = chart(Ask::number, {}, Condition{true, 3, {}});
  CHECK(verdict(sum, "", "4 + 7 = 11") == "right reasoning");
  CHECK(verdict(sum, "above 3: blue, green", "7 + 2 = 9") == "right reasoning");
  CHECK(verdict(sum, "", "7 + 2 = 9") == "wrong reasoning");
  CHECK(verdict(sum, "above 3: red, red, blue", "4 + 4 = 8") == "wrong reasoning");  // a bar counts once
  std::string many = "above 3: red";
  for (int i = 0; i < 100'000; ++i) many += ", red";
  CHECK(verdict(sum, many, "1 + 1 = 2") == "wrong reasoning");  // and checking takes no time

  const ChartTask compare = chart(Ask::higher, {{1, Pick::named, 0}, {1, Pick::named, 1}});
  CHECK(verdict(compare, "", "4 < 7") == "right reasoning");
  CHECK(verdict(compare, "", "7 > 4") == "right reasoning");
  CHECK(verdict(compare, "", "4 > 7") == "wrong reasoning");
  CHECK(verdict(compare, "", "2 < 7") == "wrong reasoning");
  CHECK(verdict(compare, "", "<answer>blue</answer>") == "right reasoning");
  CHECK(verdict(red_plus_blue(), "", "4 < 7") == "wrong reasoning");
}

TEST_CASE("charts: answers match whatever their dress, numbers as numbers") {
  const ChartTask task = red_plus_blue();
  CHECK(is_gold_answer(task, "11"));
  CHECK(is_gold_answer(task, "11.0"));
  CHECK_FALSE(is_gold_answer(task, "1.1"));
  CHECK_FALSE(is_gold_answer(task, "-11"));
  const ChartTask color = chart(Ask::color, {{1, Pick::highest, 0}});
  CHECK(is_gold_answer(color, "Blue."));
  CHECK_FALSE(is_gold_answer(color, "red"));
}

TEST_CASE("charts: a misread step fits a reading, a miscalculation does not") {
  const ChartTask task = red_plus_blue();
  Rng rng(1);
  CHECK(corrupt_chart_step(task, {"", "red is 4"}, ErrorKind::misread_value, rng));
  CHECK_FALSE(corrupt_chart_step(task, {"", "red is 4"}, ErrorKind::calculation, rng));
  CHECK(corrupt_chart_step(task, {"", "4 + 7 = 11"}, ErrorKind::calculation, rng));
  CHECK(corrupt_chart_step(task, {"", "4 + 7 = 11"}, ErrorKind::wrong_condition, rng) == "7 - 4 = 3");
  CHECK_FALSE(corrupt_chart_step(task, {"", "anything else"}, ErrorKind::calculation, rng));
}

TEST_CASE("charts: the declaration") {
  const SuiteInfo info = Suite("charts").info();
  CHECK(info.object_classes.size() == 8);
  CHECK(std::is_sorted(info.object_classes.begin(), info.object_classes.end()));
  CHECK(info.metric == "answer");
  CHECK(info.test_tasks == 1000);
  CHECK(split(info.instructions, " ").size() <= 12);
}

}  // namespace agon::env
