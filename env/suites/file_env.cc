#include "env/suites/file_env.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

Json gold_of(const FileQuestion& question) {
  return question.answers.size() == 1 ? Json(question.answers.front()) : Json(question.answers);
}

std::shared_ptr<const QuestionFile> open_question_file(const std::string& suite, const std::string& path) {
  if (path.empty()) throw Error("suite {}: no task file. Give --file FILE.", suite);
  return std::make_shared<QuestionFile>(read_question_file(path));
}

}  // namespace

FileEnv::FileEnv(std::string suite, const std::string& file)
    : suite_(std::move(suite)), path_(file), file_(open_question_file(suite_, file)) {}

StepResult FileEnv::reset(const ResetOptions& options) {
  if (options.split != Split::test)
    throw Error("{}: there is no {} split; use the test split.", path_, to_string(options.split));
  if (options.index >= file_->questions.size())
    throw Error("{}: no task {}. There are {}.", path_, options.index, file_->questions.size());
  const FileQuestion& next = file_->questions[options.index];
  StepResult first;
  if (!next.picture.empty()) first.observation.parts.push_back(Part::of(load_image(next.picture)));
  first.observation.parts.push_back(Part::of(next.question));
  std::vector<std::shared_ptr<tools::Tool>> tools_of_task = new_tools(next);
  add_to(first, next);
  index_ = options.index;
  start({fmt::format("{}/{}", suite_, next.id), next.level, next.kind, next.question, gold_of(next)},
        std::move(tools_of_task), turns());
  if (!next.picture.empty()) tools().add_picture(first.observation.parts.front().image);
  return first;
}

StepResult FileEnv::grade(const std::string& answer, ScoreRule rule) const {
  const AnswerScore score = score_answer(answer, current().answers, rule);
  StepResult result;
  result.reward = {score.f1, {{"accuracy", score.f1}}};
  result.terminated = true;
  result.info["success"] = score.exact;
  return result;
}

SuiteInfo file_suite_info(const std::string& file) {
  SuiteInfo info;
  info.takes_file = true;
  if (!file.empty()) {
    const QuestionFile questions = read_question_file(file);
    info.test_tasks = questions.questions.size();
    info.file_hash = questions.hash;
  }
  info.has_train_split = false;
  info.has_expert = false;
  info.metric = "match";
  info.observation_schema = message_schema();
  return info;
}

}  // namespace agon::env
