// The suite arithmetic: operations on whole numbers, without a picture.
#include <optional>
#include <string>
#include <utility>

#include "env/grading/grader.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/suites/arithmetic/task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

constexpr const char* kGrader = "number";

class ArithmeticEnv : public SingleTurnEnv {
 public:
  explicit ArithmeticEnv(int level) : level_(level) {}

  StepResult reset(const ResetOptions& options) override {
    Rng rng = task_stream("arithmetic", level_, options);
    numbers_ = draw_task(
        rng, options.split, [this](Rng& stream) { return draw_arithmetic_task(level_, stream); },
        [](const ArithmeticTask& task) { return task.expression(); });
    const std::string prompt = "What is " + numbers_.expression() + "?";
    start({task_id("arithmetic", level_, options), level_, numbers_.kind, prompt, std::to_string(numbers_.result()),
           grading_of(kGrader, Json::object())});
    StepResult first;
    first.observation.parts = {Part::of(prompt)};
    return first;
  }

  std::unique_ptr<Env> fork() const override { return std::make_unique<ArithmeticEnv>(*this); }

 protected:
  double accuracy(std::string_view text) const override { return Grader(kGrader, task().gold).grade(text); }

  std::optional<std::string> solution() const override { return joined_steps(solve_arithmetic(numbers_)); }

  // One operation is wrong, and the rest follows from it.
  std::optional<std::string> mistaken_solution(Rng& rng) const override {
    ArithmeticTask wrong = numbers_;
    Operation& operation =
        wrong.operations[static_cast<std::size_t>(rng.between(0, static_cast<int>(wrong.operations.size()) - 1))];
    operation.number += operation.number > 1 && rng.chance(0.5) ? -1 : 1;
    return joined_steps(solve_arithmetic(wrong));
  }

  std::optional<StepLabel> label(const StepQuery& query) const override {
    return check_arithmetic_step(numbers_, query);
  }

  std::optional<std::string> corrupted(const StepQuery& query, ErrorKind kind, Rng& rng) const override {
    return corrupt_arithmetic_step(numbers_, query, kind, rng);
  }

 private:
  int level_;
  ArithmeticTask numbers_;
};

}  // namespace

SuiteDefinition arithmetic_suite(const SuiteOptions&) {
  SuiteInfo info;
  info.name = "arithmetic";
  info.description = "Sums, differences and products of whole numbers, in text alone";
  info.instructions = "Answer in one line for each operation, such as 3 + 4 = 7.";
  info.levels = kArithmeticLevels;
  info.default_level = 2;
  info.test_tasks = kTestTasks;
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema = text_action_schema(
      "Equations parted by blank lines, then <answer>NUMBER</answer>; or any text in which the number is found.");
  return {std::move(info), [](int level) { return std::make_unique<ArithmeticEnv>(level); }};
}

}  // namespace agon::env
