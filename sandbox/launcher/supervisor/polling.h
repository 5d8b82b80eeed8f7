// sandbox/launcher/supervisor/polling.h - the descriptors that a supervisor waits for, each with what it is.
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
    int session = 0;  // 0: of none
  };
  Polling();                                                   // throws std::system_error
  void watch(int descriptor, Source source, int session = 0);  // whether it can be read; throws likewise
  void unwatch(int descriptor);
  std::vector<Event> wait(int milliseconds);  // at most, for the first; then some of those that there are

 private:
  Descriptor epoll_;
};

}  // namespace agon::sandbox::launcher
