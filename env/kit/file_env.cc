#include "env/kit/file_env.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "core/error.h"
#include "env/kit/schemas.h"
#include "env/kit/task_pictures.h"

namespace agon::env {
namespace {

Json gold_of(const FileQuestion& question) {
  return question.answers.size() == 1 ? Json(question.answers.front()) : Json(question.answers);
}

std::shared_ptr<const QuestionFile> file_of(const std::string& suite, const std::string& path) {
  if (path.empty()) throw Error("suite {}: no task file. Give --file FILE.", suite);
  return open_question_file(path);
}

std::string task_id_of(const std::string& suite, const std::string& id) { return fmt::format("{}/{}", suite, id); }

// The one asked for last is kept: there may be many tasks, and every part of a run asks.
std::shared_ptr<const std::vector<FileTask>> identities_of(const std::string& suite,
                                                           const std::shared_ptr<const QuestionFile>& file) {
  static std::mutex mutex;
  static std::string last_suite;
  static std::shared_ptr<const QuestionFile> last_file;
  static std::shared_ptr<const std::vector<FileTask>> last;
  const std::lock_guard lock(mutex);
  if (last && file == last_file && suite == last_suite) return last;
  auto tasks = std::make_shared<std::vector<FileTask>>(file->identities);
  for (FileTask& task : *tasks) task.id = task_id_of(suite, task.id);
  last_suite = suite;
  last_file = file;
  return last = std::move(tasks);
}

}  // namespace

FileEnv::FileEnv(std::string suite, const std::string& file)
    : suite_(std::move(suite)), path_(file), file_(file_of(suite_, file)) {}

StepResult FileEnv::reset(const ResetOptions& options) {
  if (options.split != Split::test)
    throw Error("{}: there is no {} split; use the test split.", path_, to_string(options.split));
  if (options.index >= file_->questions.size())
    throw Error("{}: no task {}. There are {}.", path_, options.index, file_->questions.size());
  const FileQuestion& next = file_->questions[options.index];
  std::vector<Image> pictures;
  if (!next.picture.empty()) pictures.push_back(load_image(next.picture));
  StepResult first;
  first.observation.parts = place_pictures(next.question, pictures);
  std::vector<std::shared_ptr<tools::Tool>> tools_of_task = new_tools(next);
  add_to(first, next);
  index_ = options.index;
  start({task_id_of(suite_, next.id), next.level, next.kind, next.question, gold_of(next)}, std::move(tools_of_task),
        turns());
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

SuiteInfo file_suite_info(const std::string& suite, const std::string& file) {
  SuiteInfo info;
  info.name = suite;
  info.takes_file = true;
  if (!file.empty()) {
    const std::shared_ptr<const QuestionFile> questions = open_question_file(file);
    info.test_tasks = questions->questions.size();
    info.file_hash = questions->hash;
    info.file_tasks = identities_of(suite, questions);
  }
  info.has_train_split = false;
  info.has_expert = false;
  info.metric = "match";
  info.observation_schema = message_schema();
  return info;
}

}  // namespace agon::env
