// sandbox/launcher/supervisor/processes.h - reads the state of processes from /proc. A process that no longer exists is
// not an error: its figures are 0.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace agon::sandbox::launcher {

// `root` and all its descendants, parents first; `skip` prunes a process with its descendants.
std::vector<pid_t> process_tree(pid_t root, const std::function<bool(pid_t)>& skip);

// Whether it no longer exists or is a zombie.
bool has_ended(pid_t pid);

// The process that started or adopted it; 0 if there is none.
pid_t parent_of(pid_t pid);

// The children that it has now.
std::vector<pid_t> child_processes(pid_t pid);

// Kills and reaps all descendants of this process, which must be a child subreaper, until none is left.
void end_descendants();

// Memory of a process, in bytes. If its first thread has ended, another thread is read instead.
struct MemoryUse {
  std::int64_t anonymous = 0;    // of no file and not mapped as shared; resident or swapped out
  std::int64_t resident = 0;     // `anonymous`, and resident shared memory; pages that it shares with others count
                                 // in full
  std::int64_t peak = 0;         // the highest `resident`, with mapped files, since it started or reset_peak_memory
  std::int64_t files = 0;        // mapped files that are resident
  std::int64_t page_tables = 0;  // the kernel's, for this process
  std::int64_t threads = 0;
  bool is_starting = false;  // it is starting a program and has no code yet: reading other files of it may block
};
MemoryUse memory_use(pid_t pid);
void reset_peak_memory(pid_t pid);

// Memory of a process in which a page that n processes share counts 1/n, in bytes. Slow to read. If it cannot be read,
// all resident memory counts.
struct SharedMemory {
  std::int64_t proportional = 0;
  std::int64_t shared = 0;     // the part of `proportional` in pages that other processes share
  std::int64_t in_common = 0;  // such pages in full, if they were written
};
SharedMemory shared_memory(pid_t pid);

// Whether both run in one address space, as after vfork until the child starts a program. False if the kernel does not
// tell.
bool is_in_memory_of(pid_t pid, pid_t other);

struct Times {
  char state = 0;  // as in /proc/PID/stat; 0: it no longer exists
  pid_t parent = 0;
  double reaped = 0;        // CPU seconds of children that it waited for, and of their children
  std::int64_t faults = 0;  // page faults that read no file
  std::uint64_t stack = 0;  // where its stack begins: changes with each exec
};
Times times_of(pid_t pid);
double cpu_seconds(pid_t pid);  // of all its threads

struct Descriptors {
  std::int64_t number = 0;  // open ones
  bool hidden = false;      // not readable, because it runs a program that it may not read
};
Descriptors descriptors_of(pid_t pid);
std::string descriptors_folder(pid_t pid);  // where /proc shows them
// The text of /proc/PID/maps, and the number of mappings; slow if there are many.
std::string mappings_text(pid_t pid);
std::int64_t mappings_of(pid_t pid);

// Adds its open pipes and sockets, by inode: the bytes of kernel memory that each may hold. Slow if there are many.
void add_buffers(pid_t pid, std::map<std::uint64_t, std::int64_t>& buffers);

// The system call in which the main thread waits, with its first argument; empty while it runs.
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
