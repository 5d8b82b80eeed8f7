#include "sandbox/launcher/session/files_watch.h"

#include <algorithm>
#include <system_error>

namespace agon::sandbox::launcher {
namespace {

constexpr int kCountPause = 8;               // times the CPU time of the last count, which counts for no session
constexpr std::int64_t kFilesAtOnce = 1000;  // that are counted without an errand

bool exceeds(const FilesUse& use, const Limits& limits) { return use.bytes > limits.disk || use.files > limits.inodes; }

}  // namespace

void FilesWatch::begin_call(Clock::time_point next) {
  was_counted_ = false;
  next_count_ = next;
}

bool FilesWatch::look(const HomeFolder& folder, std::chrono::milliseconds pause) {
  if (const auto outcome = counting_.take()) {
    was_counted_ = true;
    next_count_ = std::max<Clock::time_point>(next_count_, Clock::now() + kCountPause * outcome->cpu);
    if (outcome->values[0] > 0) return true;
  }
  if (counting_.is_out() || Clock::now() < next_count_) return false;
  next_count_ = Clock::now() + pause;
  try {
    counting_ = Errand::start([home = folder, limits = limits_, others = surroundings_.folders(),
                               processes = surroundings_.processes(session_, kFresh)] {
      FilesUse use = files_use(home.all(), limits.inodes, others, processes);
      use.bytes += mapped_nameless_files(home.path(), processes, limits.file);
      return Errand::Values{exceeds(use, limits) ? 1 : 0};
    });
  } catch (const std::system_error&) {
  }
  return false;
}

bool FilesWatch::has_too_many(const HomeFolder& folder) const try {
  return exceeds(files_use(folder.all(), std::min(kFilesAtOnce, limits_.inodes), surroundings_.folders()),
                 {.disk = limits_.disk, .inodes = limits_.inodes});
} catch (const std::system_error&) {
  return false;
}

std::int64_t FilesWatch::bytes(const HomeFolder& folder) const {
  return files_use(folder.all(), kFilesAtOnce, surroundings_.folders()).bytes;
}

}  // namespace agon::sandbox::launcher
