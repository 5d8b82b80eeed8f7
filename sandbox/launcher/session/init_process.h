// sandbox/launcher/session/init_process.h - the init process of each session, the first one in its namespaces: ours,
// small, and what they live and die with.
#pragma once

#include <sys/types.h>

#include "core/descriptor.h"
#include "sandbox/launcher/session/folder.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

// A fork's interpreter has ended: it was a child of the first process of the session that it was forked from.
struct Report {
  pid_t process;  // as the first process sees it
  int status;     // of wait
};

// A child of this process, which has to wait for it. Is killed when it is dropped.
class FirstProcess {
 public:
  FirstProcess() = default;
  // Begins to make user, mount and pid namespaces within those of `parent` (none: within ours), with their own /proc
  // and a tmpfs over the home: it holds a copy of the parent's files, or empty folders. The first process holds no
  // capability then, reaps, and sends its reports to `reports`, a socket for messages. Throws std::system_error.
  static FirstProcess start(const FirstProcess* parent, const Limits& limits, const Descriptor& reports);
  FirstProcess(FirstProcess&& other) noexcept;
  FirstProcess& operator=(FirstProcess&& other) noexcept;
  ~FirstProcess();

  pid_t process() const { return process_; }        // as the supervisor sees it; 0: it does not exist, yet or at all
  int progress() const { return progress_.get(); }  // polls as readable when advance() has something to do
  // Takes what it has said, without waiting. True once it is made, and not again. Throws std::system_error when it
  // could not be made.
  bool advance();
  void on_reaped() { process_ = 0; }  // it has ended, and so has everything in its namespaces

  // REQUIRES that it is made.
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
