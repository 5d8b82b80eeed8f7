// core/pictures/decoder_process.h - a separate process that decodes possibly hostile files: one of our programs, with a
// socket to this process, no environment except LD_LIBRARY_PATH, and at most one open file.
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

// The decoder program is missing, so the file is not to blame.
class NoDecoder : public Error {
 public:
  using Error::Error;
};

class DecoderProcess {
 public:
  using Clock = std::chrono::steady_clock;
  struct Ended {};  // thrown if the process ended unasked, or is overdue

  // The socket is the program's descriptor 0. file: becomes its descriptor 1; -1: none. what: the kind of files it
  // decodes, for messages. Throws NoDecoder if the program is missing, and Error if it cannot be started.
  DecoderProcess(const std::string& program, const std::string& what, int file = -1);
  ~DecoderProcess() { end(); }
  DecoderProcess(const DecoderProcess&) = delete;
  DecoderProcess& operator=(const DecoderProcess&) = delete;

  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  // Transfer all bytes, or throw Ended.
  void send(const void* bytes, std::size_t count);
  void receive(void* bytes, std::size_t count);
  bool overdue() const { return overdue_; }
  // Ends it and returns its wait status; nothing if other code has already taken that.
  std::optional<int> end();

 private:
  void wait_for(short event);
  Descriptor socket_;
  pid_t process_ = -1;
  const pid_t owner_ = ::getpid();  // so that a fork() of this process does not end the decoder
  Clock::time_point deadline_;
  bool overdue_ = false;
};

}  // namespace agon
