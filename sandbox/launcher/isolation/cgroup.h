// sandbox/launcher/isolation/cgroup.h - the cgroups (v2) of tier A: one for the whole sandbox and, in it, one per
// session, where the kernel enforces the session's limits.
//   our own cgroup, delegated
//     agon-host              the host's process, if it has to move out of our own cgroup
//     agon-sandbox-PID       locked while its launcher lives: an unlocked one is stale
//       supervisor           holds the supervisor and the template; no limits
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

// The cgroup of a sandbox. The launcher makes and removes it, from outside.
class SandboxCgroup {
 public:
  // Makes it in this process's own cgroup, writable for `user`; removes the ones that killed launchers have left there.
  // Enables the controllers of our own cgroup for its children. If that requires it, this process and its parent move
  // into the child agon-host; other processes are never moved. Throws Error with the reason if no cgroup is available.
  SandboxCgroup(uid_t user, gid_t group);
  ~SandboxCgroup();  // ends its processes and removes it
  SandboxCgroup(const SandboxCgroup&) = delete;
  SandboxCgroup& operator=(const SandboxCgroup&) = delete;

  int folder() const { return folder_.descriptor(); }
  void add_supervisor(pid_t process);  // throws std::system_error

 private:
  std::filesystem::path path_;
  FileLock folder_;
};

// The cgroup of a session. The supervisor makes and removes it.
class SessionCgroup {
 public:
  // sandbox: SandboxCgroup::folder(). Throws std::system_error.
  SessionCgroup(int sandbox, int session, const Limits& limits);
  ~SessionCgroup();  // removes it; its processes have ended
  SessionCgroup(const SessionCgroup&) = delete;
  SessionCgroup& operator=(const SessionCgroup&) = delete;

  void add(pid_t process);           // with all that it starts from now on; throws std::system_error
  void kill();                       // ends every process in it
  std::int64_t memory() const;       // bytes now: of processes, of the kernel on their behalf, of their files in memory
  std::int64_t peak_memory() const;  // bytes: the highest since it was made; 0 if the kernel does not report it
  double cpu_seconds() const;        // of all processes that were ever in it
  std::int64_t memory_kills() const;      // processes that the kernel ended at the limit
  std::int64_t process_refusals() const;  // forks that the kernel refused at the limit

 private:
  int sandbox_;
  std::string name_;
  Descriptor folder_;
};

}  // namespace agon::sandbox::launcher
