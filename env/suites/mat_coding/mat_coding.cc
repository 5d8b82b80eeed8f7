// The suite mat_coding: the file of MAT-Coding (question_file.h), whose pictures have to be repaired with code.
#include <string>
#include <utility>

#include "core/error.h"
#include "env/grading/published_rules.h"
#include "env/kit/baseline.h"
#include "env/kit/file_env.h"
#include "env/kit/image_repair.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/suites/suites.h"
#include "tools/python_tool.h"

namespace agon::env {
namespace {

// Reads the file. Throws Error for a question without a damaged picture.
std::shared_ptr<const QuestionFile> damaged_pictures_of(const std::string& path) {
  auto file = questions_of("mat_coding", path);
  for (std::size_t i = 0; file && i < file->questions.size(); ++i)
    if (file->questions[i].kind == "search")
      throw Error("{}: the question has no damaged picture. Give it \"processed_image_path\" and \"type\".",
                  file->identities[i].place);
  return file;
}

class MatCoding final : public FileEnv {
 public:
  MatCoding(std::shared_ptr<const QuestionFile> file, Baseline baseline)
      : FileEnv("mat_coding", std::move(file)), baseline_(baseline) {}

  void prepare() override {
    if (baseline_ == Baseline::none) tools::Interpreters::of_process()->start();
  }
  std::unique_ptr<Env> fork() const override { return std::make_unique<MatCoding>(*this); }

 private:
  std::vector<std::shared_ptr<tools::Tool>> new_tools(const FileQuestion& question) override {
    return mending_tools(baseline_, question.id);
  }
  int turns() const override { return baseline_ == Baseline::none ? kToolTurns : 1; }

  StepResult act(const Action& action) override {
    const Move move = move_of(action, tools().specs());
    if (move.answer || baseline_ != Baseline::none) return grade(move.answer.value_or(""), ScoreRule::mat_coding);
    if (move.call) return run_code(*move.call, tools());
    StepResult result = answer_problem(move.problem);
    if (!result.refused.has_value()) result.step_correct = parse_defects(*move.problem) == current().defects;
    return result;
  }

  Baseline baseline_;
};

}  // namespace

SuiteDefinition mat_coding_suite(const SuiteOptions& options) {
  const Baseline baseline = baseline_from(options.baseline);
  const auto file = damaged_pictures_of(options.file);
  SuiteInfo info = file_suite_info("mat_coding", file);
  info.description = "Code: the questions of MAT-Coding.json, about pictures to repair first";
  info.instructions = baseline == Baseline::none ? kMendingInstructions : baseline_instructions(baseline);
  info.baselines = {"direct", "cot"};
  info.max_turns = baseline == Baseline::none ? kToolTurns : 1;
  info.action_schema = text_action_schema(kMendingTurns);
  return {std::move(info), [file, baseline](int) { return std::make_unique<MatCoding>(file, baseline); }};
}

}  // namespace agon::env
