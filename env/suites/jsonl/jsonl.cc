// The user's own tasks: JSON objects of a file (core/json_records.h),
//   {"id": "1", "prompt": "How many?", "images": ["a.png"], "answer": 3, "grader": "number",
//    "options": ["x", "y"], "level": 1, "kind": "count"}
// images (paths relative to the file), video, options, level and kind are optional. A task has one turn. A video comes
// before the pictures: "video": {"frames": ["1.png", "2.png"], "fps": 2}, or {"file": "a.mp4", "fps": 2} to show two
// frames per second, or "count", the number of frames to show, in place of "fps".
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/json_records.h"
#include "core/pictures/image.h"
#include "core/pictures/video_file.h"
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

const std::vector<std::string> kKeys = {"id",     "prompt",    "images",      "video",
                                        "answer", "grader",    "options",     "level",
                                        "kind",   "tolerance", "coordinates", "response_coordinates",
                                        "size"};

// Pictures of one size, or a file; neither: the task has no video.
struct TaskVideo {
  std::vector<fs::path> frames;
  double fps = 0;  // of the pictures
  fs::path file;
  FrameSampling sampling;  // of the file
};

struct JsonlTask {
  TaskInfo info;
  std::vector<fs::path> images;
  Grader grader;
  TaskVideo video = {};
  std::vector<fs::path> pictures() const;  // all pictures that it shows, frames included
  std::vector<fs::path> files() const;     // the pictures and the video file
};

std::vector<fs::path> JsonlTask::pictures() const {
  std::vector<fs::path> all = images;
  all.insert(all.end(), video.frames.begin(), video.frames.end());
  return all;
}

std::vector<fs::path> JsonlTask::files() const {
  std::vector<fs::path> all = pictures();
  if (!video.file.empty()) all.push_back(video.file);
  return all;
}

struct TaskFile {
  std::string path;
  std::vector<JsonlTask> tasks;
  std::vector<FileTask> identities;  // of the tasks
  std::uint64_t hash = 0;            // of its text and its pictures
};

// Refuses a key that looks like a misspelling of a known one, if the known one is absent ("pid" next to "id" is fine);
// other keys are the user's own.
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

bool is_rate(const Line& video, const char* key) {
  return video.contains(key) && video[key].is_number() && video[key].get<double>() > 0;
}
bool has_only(const Line& object, std::initializer_list<std::string_view> keys) {
  if (!object.is_object()) return false;
  for (const auto& [key, value] : object.items())
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) return false;
  return true;
}

// A file; by default 2 frames a second are shown.
TaskVideo file_video(const Line& given, const fs::path& folder) {
  TaskVideo video;
  video.file = picture_path(filled_text_at(given, "file"), folder);
  video.sampling.spread = FrameSampling::Spread::ends;
  if (is_rate(given, "fps")) video.sampling.fps = given["fps"];
  if (given.contains("count")) video.sampling.count = whole_number_or_throw(given["count"], "\"count\"", 1, 4096);
  return video;
}

TaskVideo video_at(const Line& line, const fs::path& folder) {
  if (!line.contains("video")) return {};
  const Line& given = line["video"];
  const bool has_rate = has_only(given, {"file", "fps"}) && is_rate(given, "fps");
  if (has_only(given, {"file", "count"}) || has_rate) return file_video(given, folder);
  if (!has_only(given, {"frames", "fps"}) || !given.contains("frames") || !is_rate(given, "fps"))
    throw Error(
        "\"video\" is {}. Write its pictures and how many there are a second, "
        "{{\"frames\": [\"1.png\", \"2.png\"], \"fps\": 2}}, or a file, {{\"file\": \"a.mp4\", \"fps\": 2}}",
        shown(given));
  TaskVideo video;
  video.fps = given["fps"];
  for (const std::string& frame : texts_at(given, "frames")) video.frames.push_back(picture_path(frame, folder));
  if (video.frames.empty()) throw Error("\"video\" has no frames");
  return video;
}

int level_at(const Line& line) {
  if (!line.contains("level")) return 1;
  return whole_number_or_throw(line["level"], "\"level\"", 0, 1000);
}

JsonlTask read_task(const Line& line, const fs::path& folder) {
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
  JsonlTask task{std::move(info), {}, std::move(grade)};
  for (const std::string& image : texts_at(line, "images")) task.images.push_back(picture_path(image, folder));
  check_picture_marks(task.info.prompt, task.images.size());
  task.video = video_at(line, folder);
  return task;
}

void read_tasks(TaskFile& file, const std::string& content) {
  const fs::path folder = fs::path(file.path).parent_path();
  std::map<std::string, RecordPlace> place_of;  // by id
  read_records(content, file.path, [&](const Line& line, const RecordPlace& place) {
    JsonlTask task = read_task(line, folder);
    const auto [earlier, fresh] = place_of.emplace(task.info.id, place);
    if (!fresh) throw Error("the id is already used in {}", earlier->second.text());
    file.identities.push_back({task.info.id, place.in(file.path), hash_text(line.dump()), task.pictures()});
    if (!task.video.file.empty()) file.identities.back().videos = {task.video.file};
    file.tasks.push_back(std::move(task));
  });
  if (file.tasks.empty()) throw Error("{}: no tasks. Write one JSON object a line.", file.path);
}

// Identifies a picture by its size and its first bytes.
std::string picture_mark(const fs::path& picture) {
  constexpr std::size_t kStart = 1 << 16;
  std::string start(kStart, '\0');
  std::ifstream file(picture, std::ios::binary);
  file.read(start.data(), kStart);
  start.resize(static_cast<std::size_t>(file.gcount()));
  return fmt::format(" {} {:016x}", fs::file_size(picture), hash_text(start));
}

std::uint64_t hash_tasks(const std::string& content, const std::vector<JsonlTask>& tasks) {
  std::string seen = fmt::format("{:016x}", hash_text(content));
  std::map<fs::path, std::string> marks;  // many tasks may show one picture
  for (const JsonlTask& task : tasks)
    for (const fs::path& file : task.files()) {
      const auto [mark, fresh] = marks.try_emplace(file);
      if (fresh) mark->second = picture_mark(file);
      seen += mark->second;
    }
  return hash_text(seen);
}

// Null without a file.
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

std::vector<Image> load_images(const std::vector<fs::path>& paths) {
  std::vector<Image> images;
  for (const fs::path& path : paths) images.push_back(load_image(path));
  return images;
}

// Null: the task has no video.
std::shared_ptr<const Video> load(const TaskVideo& video) {
  if (!video.file.empty()) return load_video(video.file, video.sampling);
  return video.frames.empty() ? nullptr : make_video(load_images(video.frames), video.fps);
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
    const JsonlTask& next = file_->tasks[options.index];
    StepResult first;
    first.observation.parts = place_pictures(next.info.prompt, load_images(next.images));
    if (const auto video = load(next.video))
      first.observation.parts.insert(first.observation.parts.begin(), Part::of(video));
    current_ = &next;
    start(next.info);
    return first;
  }
  std::unique_ptr<Env> fork() const override { return std::make_unique<JsonlEnv>(*this); }

 private:
  double accuracy(std::string_view text) const override { return current_->grader.grade(text); }
  bool success(double accuracy) const override { return current_->grader.correct(accuracy); }

  std::shared_ptr<const TaskFile> file_;
  const JsonlTask* current_ = nullptr;  // in file_
};

}  // namespace

SuiteDefinition jsonl_suite(const SuiteOptions& options) {
  const std::shared_ptr<const TaskFile> file = tasks_of(options.file);
  SuiteInfo info;
  info.name = "jsonl";
  info.description =
      "Your own tasks from a file of JSON lines: pictures or a video, a question, an answer and a grader";
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
  info.observation_schema = message_schema(true);
  info.action_schema = text_action_schema("Free text; the last <answer>...</answer> or \\boxed{...} in it is graded.");
  return {std::move(info), [file](int) { return std::make_unique<JsonlEnv>(file); }};
}

}  // namespace agon::env
