// The suite charts: maths over a bar chart whose bars are told apart by color.
#include <algorithm>
#include <string>
#include <utility>

#include "core/json.h"
#include "env/protocol.h"
#include "env/suites/chart_steps.h"
#include "env/suites/chart_task.h"
#include "env/suites/draw.h"
#include "env/suites/suite_task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

// Grid lines at 1..9 with their numbers: the same below every chart.
Image draw_paper() {
  static constexpr Color kWhite{255, 255, 255}, kGrid{222, 222, 222}, kAxis{70, 70, 70};
  Canvas canvas(kChartSide, kChartSide, kWhite);
  ChartTask ruler;
  ruler.bars.resize(1);
  for (int value = 0; value <= 9; ++value) {
    ruler.bars[0].value = value;
    const double y = bar_box(ruler, 0).y1;
    canvas.rectangle({10, y, double(kChartSide) - 1, y + 1}, value == 0 ? kAxis : kGrid);
    canvas.rectangle({8, y, 10, y + 1}, kAxis);
    if (value > 0) canvas.text({1, y + 3}, std::to_string(value), 6, kAxis);
  }
  canvas.rectangle({10, 4, 11, bar_box(ruler, 0).y2}, kAxis);
  return std::move(canvas).image();
}

Image draw_chart(const ChartTask& task) {
  static const Image kPaper = draw_paper();
  Canvas canvas(kPaper);
  for (std::size_t bar = 0; bar < task.bars.size(); ++bar)
    canvas.rectangle(bar_box(task, static_cast<int>(bar)),
                     palette()[static_cast<std::size_t>(task.bars[bar].color)].color);
  return std::move(canvas).image();
}

Json objects_of(const ChartTask& task) {
  Json objects = Json::array();
  for (std::size_t bar = 0; bar < task.bars.size(); ++bar) {
    const Box box = bar_box(task, static_cast<int>(bar));
    objects.push_back(
        {{"name", "bar " + color_name(task, static_cast<int>(bar))}, {"box", {box.x1, box.y1, box.x2, box.y2}}});
  }
  return objects;
}

std::string joined(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : "\n\n") + step;
  return text;
}

// A misread chart worked out; where that changes no answer (the highest of 9, 8 and 8), the last step is wrong.
std::vector<std::string> solve_wrongly(const ChartTask& task, Rng& rng) {
  if (const std::optional<ChartTask> misread = misread_chart(task, rng)) return solve_chart(*misread);
  std::vector<std::string> steps = solve_chart(task);
  const auto wrong = corrupt_chart_step(task, {{}, steps.back()}, ErrorKind::calculation, rng);
  if (!wrong) return {};
  steps.back() = *wrong;
  return steps;
}

class Charts : public SingleTurnEnv {
 public:
  explicit Charts(int level) : level_(level) {}

  StepResult reset(const ResetOptions& options) override {
    Rng rng = task_stream("charts", level_, options);
    chart_ = draw_task(
        rng, options.split, [this](Rng& stream) { return draw_chart_task(level_, stream); },
        [](const ChartTask& task) { return task.content(); });
    start({task_id("charts", level_, options), level_, chart_.kind, chart_.prompt, gold_answer(chart_)});
    StepResult first;
    first.observation.parts = {Part::of(draw_chart(chart_)), Part::of(chart_.prompt)};
    first.info["objects"] = objects_of(chart_);
    return first;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<Charts>(*this); }

 protected:
  double accuracy(std::string_view text) const override {
    const std::optional<std::string> answer = extract_answer(text);
    return answer && is_gold_answer(chart_, *answer) ? 1 : 0;
  }

  std::optional<std::string> solution() const override { return joined(solve_chart(chart_)); }
  std::optional<std::string> mistaken_solution(Rng& rng) const override {
    const std::vector<std::string> steps = solve_wrongly(chart_, rng);
    return steps.empty() ? std::nullopt : std::optional(joined(steps));
  }

  std::optional<StepLabel> label(const StepQuery& query) const override { return check_chart_step(chart_, query); }

  std::optional<std::string> corrupted(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    return corrupt_chart_step(chart_, query, kind, rng);
  }

 private:
  int level_;
  ChartTask chart_;
};

}  // namespace

SuiteInfo charts_info(const SuiteOptions&) {
  SuiteInfo info;
  info.name = "charts";
  info.description = "Maths over bar charts: read colored bars, then add, subtract, compare and count.";
  info.instructions = "Work in steps. End with <answer>...</answer>.";
  info.levels = kChartLevels;
  info.default_level = 2;
  info.test_tasks = kTestTasks;
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema =
      text_action_schema("Steps parted by blank lines, then <answer>NUMBER, COLOR, yes or no</answer>.");
  for (const NamedColor& color : palette()) info.object_classes.push_back("bar " + std::string(color.name));
  std::sort(info.object_classes.begin(), info.object_classes.end());
  return info;
}

std::unique_ptr<Env> make_charts(const SuiteOptions& options) { return std::make_unique<Charts>(options.level); }

}  // namespace agon::env
