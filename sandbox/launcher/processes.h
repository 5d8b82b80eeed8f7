// sandbox/launcher/processes.h - what /proc says of a session's processes. A process that is gone is no error: it
// counts as nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace agon::sandbox::launcher {

// `root` and all that descend from it, parents first; `skip` prunes a process with its descendants.
std::vector<pid_t> process_tree(pid_t root, const std::function<bool(pid_t)>& skip);

// The process that started it, or has taken it over; 0 where there is none.
pid_t parent_of(pid_t pid);

// The processes that it has started and not lost.
std::vector<pid_t> child_processes(pid_t pid);

// Kills and reaps all that descend from this process, which must be a child subreaper, until nothing is left.
void end_descendants();

struct ProcessUse {
  std::int64_t memory = 0;  // bytes of its own and of shared anonymous memory; pages shared with others count in full
  std::int64_t threads = 0;
};
ProcessUse process_use(pid_t pid);

std::int64_t proportional_memory(pid_t pid);  // bytes, pages shared with n - 1 others count 1/n; slow. All of it where
                                              // that cannot be read
std::int64_t peak_memory(pid_t pid);          // bytes: the highest resident size since reset_peak_memory
void reset_peak_memory(pid_t pid);
std::int64_t file_memory(pid_t pid);  // bytes of mapped files that are resident

double cpu_seconds(pid_t pid);         // of all its threads
double reaped_cpu_seconds(pid_t pid);  // of its children that have ended

// The number of the system call in which the main thread waits, with its first argument; nothing while it runs.
struct Waiting {
  long number = -1, argument = -1;
};
std::optional<Waiting> waiting_in(pid_t pid);

// A line "Name:\tvalue" of /proc/PID/status; empty if there is none.
std::string status_field(pid_t pid, const std::string& name);

}  // namespace agon::sandbox::launcher
