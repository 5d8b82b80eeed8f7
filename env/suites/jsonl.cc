// The user's own tasks: one JSON object a line,
//   {"id": "1", "prompt": "How many?", "images": ["a.png"], "answer": 3, "grader": "number",
//    "options": ["x", "y"], "level": 1, "kind": "count"}
// images (paths relative to the file), options, level and kind may be left out. One turn a task.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "env/grade.h"
#include "env/suites/suite_task.h"
#include "env/suites/suites.h"

namespace agon::env {
namespace {

namespace fs = std::filesystem;
// Keys sorted: the ordered object of core/json.h takes quadratic time to fill, and a line is not to be trusted.
using Line = nlohmann::json;

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
                                        "response_coordinates"};
constexpr int kDeepest = 8;

struct Task {
  TaskInfo info;
  std::vector<fs::path> images;
  Grader grader;
};

struct TaskFile {
  std::string path;
  fs::file_time_type written;
  std::uintmax_t size = 0;
  std::vector<Task> tasks;
  std::uint64_t hash = 0;  // of its text and its pictures
};

Line parse_line(const std::string& text) {
  const auto too_deep = [](int depth, Line::parse_event_t, Line&) {
    if (depth > kDeepest) throw Error("nested more than {} deep", kDeepest);
    return true;
  };
  Line line;
  try {
    line = Line::parse(text, too_deep);
  } catch (const Line::exception& exception) {
    const std::string_view what = exception.what();
    throw Error("not JSON: {}", what.substr(what.find("] ") + 2));
  }
  if (!line.is_object()) throw Error("not a JSON object {...}");
  return line;
}

// A key that looks like a slip of a known one is refused; other keys are the user's own.
void check_keys(const Line& line) {
  for (const auto& [key, value] : line.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) continue;
    if (const auto meant = nearest_name(key, kKeys)) throw Error("no key \"{}\"; did you mean \"{}\"?", key, *meant);
  }
}

// A value in a message.
std::string shown(const Line& value) {
  const std::string text = value.dump(-1, ' ', true, Line::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

std::string text_at(const Line& line, const std::string& key) {
  if (!line.contains(key)) throw Error("no \"{}\"", key);
  if (!line[key].is_string() || trim(line[key].get<std::string>()).empty())
    throw Error("\"{}\" is {}, not a text with something in it", key, shown(line[key]));
  return line[key];
}

std::vector<std::string> texts_at(const Line& line, const std::string& key) {
  if (!line.contains(key)) return {};
  const bool texts = line[key].is_array() &&
                     std::all_of(line[key].begin(), line[key].end(), [](const Line& item) { return item.is_string(); });
  if (!texts) throw Error("\"{}\" is {}, not a list of texts", key, shown(line[key]));
  return line[key];
}

int level_at(const Line& line) {
  if (!line.contains("level")) return 1;
  return whole_number_or_throw(line["level"], "\"level\"", 0, 1000);
}

Task read_task(const Line& line, const fs::path& folder) {
  check_keys(line);
  TaskInfo info;
  info.id =
      "jsonl/" + (line.contains("id") && line["id"].is_number_integer() ? line["id"].dump() : text_at(line, "id"));
  info.prompt = text_at(line, "prompt");
  info.level = level_at(line);
  const std::string grader = text_at(line, "grader");
  info.kind = line.contains("kind") ? text_at(line, "kind") : grader;
  if (!line.contains("answer")) throw Error("no \"answer\"");
  if (line["answer"].is_object()) throw Error("\"answer\" is an object; it is a text, a number or a list");
  info.gold = Json(line["answer"]);
  Json rule;
  for (const std::string& key : kGradeKeys)
    if (line.contains(key)) rule[key] = Json(line[key]);
  info.grading = grading_of(grader, rule);
  Grader grade(grader, info.gold, grade_options_of(info.grading));
  Task task{std::move(info), {}, std::move(grade)};
  for (const std::string& image : texts_at(line, "images")) {
    check_image(folder / image);
    task.images.push_back(folder / image);
  }
  return task;
}

std::vector<Task> read_tasks(const std::string& path, const std::string& content) {
  const fs::path folder = fs::path(path).parent_path();
  std::vector<Task> tasks;
  std::map<std::string, std::size_t> line_of;  // id -> line
  std::size_t number = 0;
  for (const std::string& text : split(content, "\n")) {
    ++number;
    if (trim(text).empty()) continue;
    try {
      Task task = read_task(parse_line(text), folder);
      const auto [earlier, fresh] = line_of.emplace(task.info.id, number);
      if (!fresh) throw Error("the id of line {} again", earlier->second);
      tasks.push_back(std::move(task));
    } catch (const Error& error) {
      throw Error("{}:{}: {}", path, number, error.what());
    }
  }
  if (tasks.empty()) throw Error("{}: no tasks. Write one JSON object a line.", path);
  return tasks;
}

// Of a picture, its size and its first bytes tell one from another.
std::uint64_t hash_tasks(const std::string& content, const std::vector<Task>& tasks) {
  constexpr std::size_t kStart = 1 << 16;
  std::string seen = fmt::format("{:016x}", hash_text(content)), start;
  for (const Task& task : tasks)
    for (const fs::path& image : task.images) {
      std::ifstream file(image, std::ios::binary);
      start.resize(kStart);
      file.read(start.data(), kStart);
      start.resize(static_cast<std::size_t>(file.gcount()));
      seen += fmt::format(" {} {:016x}", fs::file_size(image), hash_text(start));
    }
  return hash_text(seen);
}

// Every Env of a run reads the same file: the one last read is kept, until it changes.
std::shared_ptr<const TaskFile> open_task_file(const std::string& path) {
  if (path.empty()) throw Error("suite jsonl: no task file. Give --file TASKS.jsonl.");
  static std::mutex mutex;
  static std::shared_ptr<const TaskFile> last;
  const std::lock_guard lock(mutex);
  std::error_code code;
  const auto written = fs::last_write_time(path, code);
  const std::uintmax_t size = fs::file_size(path, code);
  if (!code && last && last->path == path && last->written == written && last->size == size) return last;
  const std::string content = read_file(path);
  TaskFile file{path, written, size, read_tasks(path, content), 0};
  file.hash = hash_tasks(content, file.tasks);
  last = std::make_shared<TaskFile>(std::move(file));
  return last;
}

class JsonlEnv final : public SingleTurnEnv {
 public:
  explicit JsonlEnv(std::shared_ptr<const TaskFile> file) : file_(std::move(file)) {}

  StepResult reset(const ResetOptions& options) override {
    if (options.split == Split::train) throw Error("{}: there is no train split; use the test split.", file_->path);
    if (options.index >= file_->tasks.size())
      throw Error("{}: no task {}. There are {}.", file_->path, options.index, file_->tasks.size());
    const Task& next = file_->tasks[options.index];
    StepResult first;
    for (const fs::path& image : next.images) first.observation.parts.push_back(Part::of(load_image(image)));
    first.observation.parts.push_back(Part::of(next.info.prompt));
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

SuiteInfo jsonl_info(const SuiteOptions& options) {
  SuiteInfo info;
  info.name = "jsonl";
  info.description = "your own tasks from a file of JSON lines: pictures, a question, an answer and a grader";
  if (!options.file.empty()) {
    const auto file = open_task_file(options.file);
    info.test_tasks = file->tasks.size();
    info.file_hash = file->hash;
  }
  info.takes_file = true;
  info.has_train_split = false;
  info.has_expert = false;
  info.instructions = "Work in steps. End with <answer>...</answer>.";
  info.metric = "answer";
  info.observation_schema = message_schema();
  info.action_schema = text_action_schema("Free text; the last <answer>...</answer> or \\boxed{...} in it is graded.");
  return info;
}

std::unique_ptr<Env> make_jsonl(const SuiteOptions& options) {
  return std::make_unique<JsonlEnv>(open_task_file(options.file));
}

}  // namespace agon::env
