// sandbox/launcher/session/init_process.h - the init process of a session: the first process in its namespaces, which
// end with it. It is a small part of agon, not of the guest.
#pragma once

#include <sys/types.h>

#include "core/descriptor.h"
#include "sandbox/launcher/session/folder.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

// Reports that a fork's interpreter has ended. It was a child of the init process of the session that it was forked
// from.
struct Report {
  pid_t process;  // as the init process sees it
  int status;     // as from wait()
};

// The init process. It is a child of the calling process, which has to reap it. The destructor kills it.
class InitProcess {
 public:
  InitProcess() = default;
  // Starts making user, mount and pid namespaces within the ones of `parent` (null: within ours), with their own /proc
  // and a tmpfs over the home, which holds a copy of the parent's files, or empty folders. After that, the init process
  // has no capabilities, reaps processes, and sends its reports to `reports`, a message socket. Throws
  // std::system_error.
  static InitProcess start(const InitProcess* parent, const Limits& limits, const Descriptor& reports);
  InitProcess(InitProcess&& other) noexcept;
  InitProcess& operator=(InitProcess&& other) noexcept;
  ~InitProcess();

  pid_t process() const { return process_; }        // as the supervisor sees it; 0: it does not exist, yet or at all
  int progress() const { return progress_.get(); }  // polls as readable when advance() has something to do
  // Reads its messages, without waiting. Returns true once, when it is made. Throws std::system_error if it could not
  // be made.
  bool advance();
  void on_reaped() { process_ = 0; }  // it has ended, and so has everything in its namespaces

  // namespaces() and home() REQUIRE that it is made.
  struct Namespaces {
    Descriptor users, mounts, pids;
  };
  Namespaces namespaces() const;  // for the interpreter to enter
  Folder home() const;            // the session's files; both throw std::system_error

 private:
  pid_t process_ = 0;
  Descriptor progress_;
};

}  // namespace agon::sandbox::launcher
