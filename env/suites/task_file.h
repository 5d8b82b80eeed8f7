// env/suites/task_file.h - files of tasks as people and tools write them: one JSON object a line, or one array of
// objects. A byte-order mark, CRLF and empty lines are fine; null is "not there"; 2.0 is 2.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/suite.h"
#include "tools/json_text.h"

namespace agon::env {

struct TaskPlace {
  bool in_array = false;
  std::size_t number = 0;    // of the line, from 1; of the item, from 0
  std::string text() const;  // "line 3", "item 2"
};

// Calls visit(item, place, its text) for each object of the content of the file `path`, without its nulls. `where`
// begins the messages about one: "tasks.jsonl, line 3". Throws Error for what is no JSON, no object, or has a key
// twice; for another format, with the way to convert it; and what visit throws, with the place before it.
using PlaceText = std::string (*)(const std::string& path, const TaskPlace& place);
using VisitTask = std::function<void(const tools::SortedJson& item, const TaskPlace& place, std::string_view text)>;
void read_tasks_of(const std::string& path, std::string_view content, PlaceText where, const VisitTask& visit);

// Fills in the hashes of the tasks from their texts' and those of their pictures, all of which it looks at: header and
// end, with progress on stderr where that takes long. Throws Error that names the file, the place and the id of the
// first tasks whose pictures cannot be used.
void check_and_hash_pictures(const std::string& path, std::vector<FileTask>& tasks);

// "<image>" in a prompt says where a picture stands; without one, they stand before it.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error where the prompt has marks, and not one a picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);
// REQUIRES: check_picture_marks throws nothing.
std::vector<Part> place_pictures(std::string_view prompt, std::vector<Image> pictures);

// The file that was read last, until it changes: every Env of a run reads the same one. Thread-safe.
template <typename File>
class LastFile {
 public:
  // read(path): a File, for one that is not the last.
  template <typename Read>
  std::shared_ptr<const File> get(const std::string& path, const Read& read) {
    const std::lock_guard lock(mutex_);
    struct stat now {};
    const bool there = ::stat(path.c_str(), &now) == 0;
    if (there && last_ && path == path_ && is_same(now, seen_)) return last_;
    last_.reset();
    auto file = std::make_shared<const File>(read(path));
    path_ = path;
    seen_ = now;
    return last_ = std::move(file);
  }

 private:
  static bool is_same(const struct stat& a, const struct stat& b) {
    const auto same = [](const timespec& one, const timespec& two) {
      return one.tv_sec == two.tv_sec && one.tv_nsec == two.tv_nsec;
    };
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && same(a.st_mtim, b.st_mtim) &&
           same(a.st_ctim, b.st_ctim);
  }

  std::mutex mutex_;
  std::string path_;
  struct stat seen_ {};
  std::shared_ptr<const File> last_;
};

}  // namespace agon::env
