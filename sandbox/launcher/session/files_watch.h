// sandbox/launcher/session/files_watch.h - keeps the files of a session within its limits where the session has no file
// system that keeps them.
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
  // Takes a count that is done, or begins one when it is time; the next one is `pause` later at the earliest. True
  // where there is too much.
  bool look(const HomeFolder& folder, std::chrono::milliseconds pause);
  bool is_out() const { return counting_.is_out(); }  // an errand
  void stop() { counting_ = Errand(); }               // that
  bool was_counted() const { return was_counted_; }   // since the last call began

  // At once, of the first thousand: large folders are counted by an errand alone. The latter throws std::system_error.
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
