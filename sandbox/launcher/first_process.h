// sandbox/launcher/first_process.h - the first process of each session: ours, small, and what its namespaces live and
// die with.
#pragma once

#include <sys/types.h>

#include "sandbox/launcher/descriptor.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

struct FirstProcess {
  pid_t process = 0;               // as the supervisor sees it
  Descriptor reports;              // a Report for each process that it has reaped
  Descriptor home;                 // the folder of the session's files
  Descriptor users, mounts, pids;  // its namespaces, for the interpreter to enter
};

struct Report {
  pid_t process;  // as the first process sees it
  int status;     // of wait
};

// Makes user, mount and pid namespaces within those of the session whose first process is `parent` (none: within ours),
// with their own /proc and a tmpfs over the home: it holds a copy of the parent's files, or empty folders. The first
// process holds no capability then, reaps, and reports. Throws std::system_error.
FirstProcess make_first_process(const FirstProcess* parent, const Limits& limits);

}  // namespace agon::sandbox::launcher
