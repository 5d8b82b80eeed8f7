// The user's own tasks: JSON objects of a file (core/json_records.h),
//   {"id": "1", "prompt": "How many?", "images": ["a.png"], "answer": 3, "grader": "number",
//    "options": ["x", "y"], "level": 1, "kind": "count"}
// images (paths relative to the file), options, level and kind may be left out. One turn a task.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/image.h"
#include "core/json_records.h"
#include "core/text.h"
#include "env/grading/grade_options.h"
#include "env/grading/grader.h"
#include "env/kit/schemas.h"
#include "env/kit/suite_task.h"
#include "env/kit/task_file.h"
#include "env/kit/task_pictures.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

namespace fs = std::filesystem;
using Line = SortedJson;

const std::vector<std::string> kKeys = {"id",
                                        "prompt",
                                        "images",
                                        "answer",
                                        "grader",
                                        "options",
                                        "level",
                                        "kind",
                                        "tolerance",
                                        "coordinates",
                                        "response_coordinates",
                                        "size"};

struct Task {
  TaskInfo info;
  std::vector<fs::path> images;
  Grader grader;
};

struct TaskFile {
  std::string path;
  std::vector<Task> tasks;
  std::vector<FileTask> identities;  // of the tasks
  std::uint64_t hash = 0;            // of its text and its pictures
};

// A key that looks like a slip of a known one is refused where that one is not there ("pid" next to "id" is not a
// slip); other keys are the user's own.
void check_keys(const Line& line) {
  for (const auto& [key, value] : line.items()) {
    auto meant = slip_of(key, kKeys);
    if (!line.contains("id") && !meant) meant = nearest_name(key, {"id"});
    if (meant && !line.contains(*meant)) throw Error("no key \"{}\"; did you mean \"{}\"?", key, *meant);
  }
}

std::vector<std::string> texts_at(const Line& line, const std::string& key) {
  if (!line.contains(key)) return {};
  const auto is_text = [](const Line& item) { return item.is_string() || item.is_number(); };
  const bool texts = line[key].is_array() && std::all_of(line[key].begin(), line[key].end(), is_text);
  if (!texts) throw Error("\"{}\" is {}, not a list of texts", key, shown(line[key]));
  std::vector<std::string> all;
  for (const Line& item : line[key]) all.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  return all;
}

int level_at(const Line& line) {
  if (!line.contains("level")) return 1;
  return whole_number_or_throw(line["level"], "\"level\"", 0, 1000);
}

Task read_task(const Line& line, const fs::path& folder) {
  check_keys(line);
  TaskInfo info;
  if (!line.contains("id")) throw Error("no \"id\"");
  info.id = "jsonl/" + task_id_of(line["id"]);
  info.prompt = filled_text_at(line, "prompt");
  info.level = level_at(line);
  const std::string grader = filled_text_at(line, "grader");
  info.kind = line.contains("kind") ? filled_text_at(line, "kind") : grader;
  if (!line.contains("answer")) throw Error("no \"answer\"");
  if (line["answer"].is_object()) throw Error("\"answer\" is an object; it is a text, a number or a list");
  info.gold = Json(line["answer"]);
  if (line.contains("options") && line["options"].is_object())
    throw Error("\"options\" is an object. Write its texts as a list, that of A first: [\"red\", \"blue\"]");
  Json rule;
  for (const std::string& key : kGradeKeys)
    if (line.contains(key)) rule[key] = Json(line[key]);
  info.grading = grading_of(grader, rule);
  Grader grade(grader, info.gold, grade_options_of(info.grading));
  Task task{std::move(info), {}, std::move(grade)};
  for (const std::string& image : texts_at(line, "images")) task.images.push_back(picture_path(image, folder));
  check_picture_marks(task.info.prompt, task.images.size());
  return task;
}

void read_tasks(TaskFile& file, const std::string& content) {
  const fs::path folder = fs::path(file.path).parent_path();
  std::map<std::string, RecordPlace> place_of;  // of an id
  read_records(content, file.path, [&](const Line& line, const RecordPlace& place) {
    Task task = read_task(line, folder);
    const auto [earlier, fresh] = place_of.emplace(task.info.id, place);
    if (!fresh) throw Error("the id is already used in {}", earlier->second.text());
    file.identities.push_back({task.info.id, place.in(file.path), hash_text(line.dump()), task.images});
    file.tasks.push_back(std::move(task));
  });
  if (file.tasks.empty()) throw Error("{}: no tasks. Write one JSON object a line.", file.path);
}

// Of a picture, its size and its first bytes tell one from another.
std::string picture_mark(const fs::path& picture) {
  constexpr std::size_t kStart = 1 << 16;
  std::string start(kStart, '\0');
  std::ifstream file(picture, std::ios::binary);
  file.read(start.data(), kStart);
  start.resize(static_cast<std::size_t>(file.gcount()));
  return fmt::format(" {} {:016x}", fs::file_size(picture), hash_text(start));
}

std::uint64_t hash_tasks(const std::string& content, const std::vector<Task>& tasks) {
  std::string seen = fmt::format("{:016x}", hash_text(content));
  std::map<fs::path, std::string> marks;  // many tasks may show one picture
  for (const Task& task : tasks)
    for (const fs::path& image : task.images) {
      const auto [mark, fresh] = marks.try_emplace(image);
      if (fresh) mark->second = picture_mark(image);
      seen += mark->second;
    }
  return hash_text(seen);
}

// Nothing without a file.
std::shared_ptr<const TaskFile> tasks_of(const std::string& path) {
  if (path.empty()) return nullptr;
  const std::string content = read_file(path);
  auto file = std::make_shared<TaskFile>();
  file->path = path;
  read_tasks(*file, content);
  check_and_hash_pictures(path, file->identities);
  file->hash = hash_tasks(content, file->tasks);
  return file;
}

class JsonlEnv final : public SingleTurnEnv {
 public:
  explicit JsonlEnv(std::shared_ptr<const TaskFile> file) : file_(std::move(file)) {
    if (!file_) throw Error("suite jsonl: no task file. Give --file TASKS.jsonl.");
  }

  StepResult reset(const ResetOptions& options) override {
    if (options.split != Split::test)
      throw Error("{}: there is no {} split; use the test split.", file_->path, to_string(options.split));
    if (options.index >= file_->tasks.size())
      throw Error("{}: no task {}. There are {}.", file_->path, options.index, file_->tasks.size());
    const Task& next = file_->tasks[options.index];
    std::vector<Image> pictures;
    for (const fs::path& image : next.images) pictures.push_back(load_image(image));
    StepResult first;
    first.observation.parts = place_pictures(next.info.prompt, std::move(pictures));
    current_ = &next;
    start(next.info);
    return first;
  }
  std::unique_ptr<Env> fork() const override { return std::make_unique<JsonlEnv>(*this); }

 private:
  double accuracy(std::string_view text) const override { return current_->grader.grade(text); }
  bool success(double accuracy) const override { return current_->grader.correct(accuracy); }

  std::shared_ptr<const TaskFile> file_;
  const Task* current_ = nullptr;  // in file_
};

}  // namespace

SuiteDefinition jsonl_suite(const SuiteOptions& options) {
  const std::shared_ptr<const TaskFile> file = tasks_of(options.file);
  SuiteInfo info;
  info.name = "jsonl";
  info.description = "Your own tasks from a file of JSON lines: pictures, a question, an answer and a grader";
  if (file) {
    info.test_tasks = file->tasks.size();
    info.file_hash = file->hash;
    info.file_tasks = {file, &file->identities};
  }
  info.takes_file = true;
  info.has_train_split = false;
  info.has_expert = false;
  info.instructions = "Work in steps. End with <answer>...</answer>.";
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema = text_action_schema("Free text; the last <answer>...</answer> or \\boxed{...} in it is graded.");
  return {std::move(info), [file](int) { return std::make_unique<JsonlEnv>(file); }};
}

}  // namespace agon::env
