// env/kit/task_file.h - what suites over a file of tasks (core/json_records.h) share.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/json_text.h"

namespace agon::env {

// The id of a task: a text, or a whole number in digits. Throws Error for another.
std::string task_id_of(const SortedJson& id);

// "<image>" in a prompt says where a picture stands; without one, they stand before it.
inline constexpr std::string_view kPictureMark = "<image>";
// Throws Error where the prompt has marks, and not one a picture.
void check_picture_marks(std::string_view prompt, std::size_t pictures);

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
