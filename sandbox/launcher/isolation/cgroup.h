// sandbox/launcher/isolation/cgroup.h - cgroup v2: one for a sandbox as a whole, beneath it one for each session, in
// which the kernel keeps the session's limits (tier A).
//   our own cgroup, delegated
//     agon-host              the host's process, where it would stand in the way
//     agon-sandbox-PID       locked while its launcher lives: an unlocked one is stale
//       supervisor           and the template: no limits
//       session-N
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"
#include "core/file_lock.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

// The folder of the cgroup that a process is in, from its /proc/PID/cgroup and /proc/PID/mountinfo. Throws Error saying
// what is missing.
std::string own_cgroup_folder(std::string_view cgroup, std::string_view mountinfo);

// Made and removed by the launcher, from outside.
class SandboxCgroup {
 public:
  // Beneath this process's own cgroup, for `user` to fill; removes what launchers that were killed have left there. The
  // controllers of our own cgroup are switched on for its children; where that needs it, this process and its parent
  // move into a child of it (agon-host). No other process is ever moved. Throws Error with the reason if no cgroup is
  // available.
  SandboxCgroup(uid_t user, gid_t group);
  ~SandboxCgroup();  // ends what is in it and removes it
  SandboxCgroup(const SandboxCgroup&) = delete;
  SandboxCgroup& operator=(const SandboxCgroup&) = delete;

  int folder() const { return folder_.descriptor(); }
  void add_supervisor(pid_t process);  // throws std::system_error

 private:
  std::filesystem::path path_;
  FileLock folder_;
};

// Made and removed by the supervisor.
class SessionCgroup {
 public:
  // In the folder of a SandboxCgroup. Throws std::system_error.
  SessionCgroup(int sandbox, int session, const Limits& limits);
  ~SessionCgroup();  // removes it; its processes have ended
  SessionCgroup(const SessionCgroup&) = delete;
  SessionCgroup& operator=(const SessionCgroup&) = delete;

  void add(pid_t process);                // and what it starts from now on; throws std::system_error
  void kill();                            // every process in it
  std::int64_t memory() const;            // bytes now: of processes, of the kernel for them, of their files in memory
  std::int64_t peak_memory() const;       // bytes: the highest since its making; 0 where the kernel does not report it
  double cpu_seconds() const;             // of all that ever were in it
  std::int64_t memory_kills() const;      // processes that the kernel ended at the limit
  std::int64_t process_refusals() const;  // forks that the kernel refused at the limit

 private:
  int sandbox_;
  std::string name_;
  Descriptor folder_;
};

}  // namespace agon::sandbox::launcher
