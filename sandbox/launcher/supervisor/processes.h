// sandbox/launcher/supervisor/processes.h - what /proc says of processes. A process that is gone is not an error: it
// counts as nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace agon::sandbox::launcher {

// `root` and all that descend from it, parents first; `skip` prunes a process with its descendants.
std::vector<pid_t> process_tree(pid_t root, const std::function<bool(pid_t)>& skip);

// Whether it is gone, or waits for its parent to take note of its end.
bool has_ended(pid_t pid);

// The process that started it, or has taken it over; 0 where there is none.
pid_t parent_of(pid_t pid);

// The processes that it has started and not lost.
std::vector<pid_t> child_processes(pid_t pid);

// Kills and reaps all that descend from this process, which must be a child subreaper, until nothing is left.
void end_descendants();

// Bytes. A process whose first thread has ended is asked through another of its threads.
struct MemoryUse {
  std::int64_t anonymous = 0;    // of no file and not shared on purpose, swapped out or not
  std::int64_t resident = 0;     // of its own and of shared anonymous memory, swapped out or not; pages shared with
                                 // others count in full
  std::int64_t peak = 0;         // the highest `resident`, and mapped files, since it started or reset_peak_memory
  std::int64_t files = 0;        // mapped files that are resident
  std::int64_t page_tables = 0;  // the kernel's, for this process
  std::int64_t threads = 0;
  bool is_starting = false;  // a program that has no code yet: what else /proc has of it may keep who reads it waiting
};
MemoryUse memory_use(pid_t pid);
void reset_peak_memory(pid_t pid);

// Bytes, slow: pages that are shared with n - 1 others count 1/n. All that is resident where that cannot be read.
struct SharedMemory {
  std::int64_t proportional = 0;
  std::int64_t shared = 0;     // of those, the parts of pages that have another owner too
  std::int64_t in_common = 0;  // such pages in full, as far as they are written
};
SharedMemory shared_memory(pid_t pid);

// Whether both run in one memory, as after vfork until the child starts a program. False where the kernel does not say.
bool is_in_memory_of(pid_t pid, pid_t other);

struct Times {
  char state = 0;  // as in /proc/PID/stat; 0: it is gone
  pid_t parent = 0;
  double reaped = 0;        // seconds of CPU time of its children that it waited for, and of theirs
  std::int64_t faults = 0;  // pages that it got without reading a file
  std::uint64_t stack = 0;  // where its stack begins: another address after each exec
};
Times times_of(pid_t pid);
double cpu_seconds(pid_t pid);  // of all its threads

struct Descriptors {
  std::int64_t number = 0;  // open ones
  bool hidden = false;      // they cannot be read: it runs a program that it may not read
};
Descriptors descriptors_of(pid_t pid);
std::string descriptors_folder(pid_t pid);  // where /proc shows them
// As /proc/PID/maps has them, and their number; slow where there are many.
std::string mappings_text(pid_t pid);
std::int64_t mappings_of(pid_t pid);

// Pipes and sockets among them, by their inodes: what each may hold in the kernel's memory, in bytes. Slow where there
// are many.
void add_buffers(pid_t pid, std::map<std::uint64_t, std::int64_t>& buffers);

// The number of the system call in which the main thread waits, with its first argument; nothing while it runs.
struct Waiting {
  long number = -1, argument = -1;
};
std::optional<Waiting> waiting_in(pid_t pid);

// /proc/PID/status, read once: lines "Name:\tvalue".
class ProcessStatus {
 public:
  explicit ProcessStatus(pid_t pid);
  std::string field(const std::string& name) const;  // empty if there is no such line
  std::int64_t bytes(const std::string& name) const;

 private:
  std::string text_;
};

}  // namespace agon::sandbox::launcher
