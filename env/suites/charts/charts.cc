// The suite charts: maths over a bar chart whose bars are told apart by color.
#include <string>
#include <utility>

#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/protocol.h"
#include "env/suites/charts/corrupt.h"
#include "env/suites/charts/picture.h"
#include "env/suites/charts/steps.h"
#include "env/suites/charts/task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

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
    first.info["objects"] = chart_objects(chart_);
    return first;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<Charts>(*this); }

 protected:
  double accuracy(std::string_view text) const override {
    const std::optional<std::string> answer = extract_answer(text);
    return answer && is_gold_answer(chart_, *answer) ? 1 : 0;
  }

  std::optional<std::string> solution() const override { return joined_steps(solve_chart(chart_)); }
  std::optional<std::string> mistaken_solution(Rng& rng) const override {
    const std::vector<std::string> steps = solve_chart_wrongly(chart_, rng);
    return steps.empty() ? std::nullopt : std::optional(joined_steps(steps));
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

SuiteDefinition charts_suite(const SuiteOptions&) {
  SuiteInfo info;
  info.name = "charts";
  info.description = "Maths about bar charts: read colored bars, then add, subtract, compare and count";
  info.instructions = "Work in steps. End with <answer>...</answer>.";
  info.levels = kChartLevels;
  info.default_level = 2;
  info.test_tasks = kTestTasks;
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema =
      text_action_schema("Steps parted by blank lines, then <answer>NUMBER, COLOR, yes or no</answer>.");
  info.object_classes = chart_object_names();
  return {std::move(info), [](int level) { return std::make_unique<Charts>(level); }};
}

}  // namespace agon::env
