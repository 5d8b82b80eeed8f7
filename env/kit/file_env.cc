#include "env/kit/file_env.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "env/kit/schemas.h"
#include "env/kit/task_file.h"
#include "env/kit/task_pictures.h"

namespace agon::env {
namespace {

Json gold_of(const FileQuestion& question) {
  return question.answers.size() == 1 ? Json(question.answers.front()) : Json(question.answers);
}

}  // namespace

std::shared_ptr<const QuestionFile> questions_of(const std::string& suite, const std::string& path) {
  if (path.empty()) return nullptr;
  auto file = std::make_shared<QuestionFile>(read_question_file(path));
  for (FileTask& task : file->identities) task.id = fmt::format("{}/{}", suite, task.id);
  return file;
}

FileEnv::FileEnv(const std::string& suite, std::shared_ptr<const QuestionFile> file) : file_(std::move(file)) {
  if (!file_) throw Error("suite {}: no task file. Give --file FILE.", suite);
}

StepResult FileEnv::reset(const ResetOptions& options) {
  if (options.split != Split::test)
    throw Error("{}: there is no {} split; use the test split.", file_->path, to_string(options.split));
  if (options.index >= file_->questions.size())
    throw Error("{}: no task {}. There are {}.", file_->path, options.index, file_->questions.size());
  const FileQuestion& next = file_->questions[options.index];
  std::vector<Image> pictures;
  if (!next.picture.empty()) pictures.push_back(load_image(next.picture));
  StepResult first;
  first.observation.parts = place_pictures(next.question, pictures);
  std::vector<std::shared_ptr<tools::Tool>> tools_of_task = new_tools(next);
  add_to(first, next);
  index_ = options.index;
  start({file_->identities[options.index].id, next.level, next.kind, next.question, gold_of(next)},
        std::move(tools_of_task), turns());
  for (const Image& picture : pictures) tools().add_picture(picture);
  return first;
}

StepResult FileEnv::grade(const std::string& answer, ScoreRule rule) const {
  const AnswerScore score = score_answer(answer, current().answers, rule);
  StepResult result;
  result.reward = {score.f1, {{"accuracy", score.f1}}};
  result.terminated = true;
  result.success = score.exact;
  return result;
}

SuiteInfo file_suite_info(const std::string& suite, const std::shared_ptr<const QuestionFile>& file) {
  SuiteInfo info;
  info.name = suite;
  info.takes_file = true;
  if (file) {
    info.test_tasks = file->questions.size();
    info.file_hash = file->hash;
    info.file_tasks = {file, &file->identities};
  }
  info.has_train_split = false;
  info.has_expert = false;
  info.metric = "match";
  info.observation_schema = message_schema();
  return info;
}

}  // namespace agon::env
