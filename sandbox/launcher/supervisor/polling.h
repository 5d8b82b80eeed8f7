// sandbox/launcher/supervisor/polling.h - waits for events on a supervisor's descriptors and reports the source of
// each.
#pragma once

#include <cstdint>
#include <vector>

#include "core/descriptor.h"

namespace agon::sandbox::launcher {

enum class Source : std::uint32_t { control, questions, signals, reports, channel, out, err, progress };

class Polling {
 public:
  struct Event {
    Source source = Source::control;
    int session = 0;  // 0: no session
  };
  Polling();                                                   // throws std::system_error
  void watch(int descriptor, Source source, int session = 0);  // for reading; throws likewise
  void unwatch(int descriptor);
  std::vector<Event> wait(int milliseconds);  // waits that long at most; returns some of the pending events

 private:
  Descriptor epoll_;
};

}  // namespace agon::sandbox::launcher
