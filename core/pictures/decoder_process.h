// core/pictures/decoder_process.h - a process that decodes what may be hostile: one of our programs, with a socket to
// this one, no environment, and one open file at most.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "core/descriptor.h"
#include "core/error.h"

namespace agon {

// The machinery is missing: the file is not to blame.
class NoDecoder : public Error {
 public:
  using Error::Error;
};

class DecoderProcess {
 public:
  using Clock = std::chrono::steady_clock;
  struct Ended {};  // it ended, and was not asked to, or it is overdue

  // The socket is its descriptor 0. file: becomes its descriptor 1; -1: none. what: it decodes, for messages. Throws
  // NoDecoder for a program that is not there, and Error for one that cannot be started.
  DecoderProcess(const std::string& program, const std::string& what, int file = -1);
  ~DecoderProcess() { end(); }
  DecoderProcess(const DecoderProcess&) = delete;
  DecoderProcess& operator=(const DecoderProcess&) = delete;

  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  // Whole, or throws Ended.
  void send(const void* bytes, std::size_t count);
  void receive(void* bytes, std::size_t count);
  bool overdue() const { return overdue_; }
  // Ends it and returns its wait status; nothing if somebody else took that.
  std::optional<int> end();

 private:
  void wait_for(short event);
  Descriptor socket_;
  pid_t process_ = -1;
  const pid_t owner_ = ::getpid();  // a copy of this process, by fork(), ends nothing
  Clock::time_point deadline_;
  bool overdue_ = false;
};

}  // namespace agon
