// sandbox/launcher/session/files_watch.h - keeps a session's files within its limits if the session has no file system
// of its own that does so.
#pragma once

#include <chrono>
#include <cstdint>

#include "sandbox/launcher/session/home_folder.h"
#include "sandbox/launcher/session/surroundings.h"
#include "sandbox/launcher/supervisor/errand.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

class FilesWatch {
 public:
  FilesWatch(int session, const Limits& limits, const Surroundings& surroundings)
      : session_(session), limits_(limits), surroundings_(surroundings) {}
  void wait_until(Clock::time_point next) { next_count_ = next; }
  void begin_call(Clock::time_point next);
  // Takes the result of a finished count, or starts a count if it is time; the next one starts `pause` later at the
  // earliest. True if the files exceed the limits.
  bool look(const HomeFolder& folder, std::chrono::milliseconds pause);
  bool is_out() const { return counting_.is_out(); }  // an errand is counting
  void stop() { counting_ = Errand(); }               // ends that errand
  bool was_counted() const { return was_counted_; }   // a count has finished since the last call began

  // Count at once, but only the first thousand files: only errands count large folders. bytes() throws
  // std::system_error.
  bool has_too_many(const HomeFolder& folder) const;
  std::int64_t bytes(const HomeFolder& folder) const;

 private:
  int session_;
  Limits limits_;
  const Surroundings& surroundings_;  // outlive it
  Errand counting_;
  bool was_counted_ = true;
  Clock::time_point next_count_;
};

}  // namespace agon::sandbox::launcher
