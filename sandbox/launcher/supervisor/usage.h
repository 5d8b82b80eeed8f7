// sandbox/launcher/supervisor/usage.h - what the processes of a session use together, where no cgroup counts it: read
// from /proc at each look. That takes a read of a few small files a process, as a rule; but where one starts a program
// or ends just then, its reader may be the last to let go of its memory, and pay for giving that back: a tenth of a
// second for 60,000 mappings.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {

// What a fresh interpreter shares with the template, and so with all sessions.
struct TemplateMemory {
  std::int64_t resident = 0, page_tables = 0;  // bytes
  std::int64_t mappings = 0;
  std::uint64_t stack = 0;  // tells a fork of the template from a program that was started anew
  static TemplateMemory of(pid_t process);
};

// Bytes in addition to the template's: of pages, shared ones counted once, and of page tables; and of the kernel's
// records of mappings.
struct ExactMemory {
  std::int64_t pages = 0, mappings = 0;
};
// Slow: for an errand.
ExactMemory exact_memory(const std::vector<pid_t>& processes, const TemplateMemory& shared);

// What a look reads of a process.
struct Sample {
  pid_t process = 0;
  double cpu = 0;  // seconds
  Times times;
  MemoryUse memory;
  Descriptors open;
  bool is_borrowing = false;  // it runs in its parent's memory
  bool is_starting = false;   // it is about to run another program, so of `times` only the state is known
};
// And of all.
struct UsageReading {
  std::vector<Sample> samples;
  double reaped_by_reaper = 0;          // seconds, of all that it ever waited for
  double reaped_by_supervisor = 0;      // and that we did, when the reading began
  std::optional<std::int64_t> buffers;  // bytes that pipes and sockets may hold, where they were looked at
};
std::string to_bytes(const UsageReading& reading);
UsageReading reading_from(std::string_view bytes);

class Usage {
 public:
  using Clock = std::chrono::steady_clock;

  // interpreter: the session's first own process. reaper: where its orphans end up; 0: with the supervisor, which says
  // so by on_reaped().
  Usage() = default;
  Usage(pid_t interpreter, pid_t reaper, const TemplateMemory& shared);

  // Whether nothing has run since the last look, as far as a glance tells.
  bool at_rest(const std::vector<pid_t>& processes) const;
  // Reads them all again. `processes`: of the session, the interpreter among them.
  void look(const std::vector<pid_t>& processes);
  // The same in two halves, for an errand that reads: changes nothing; takes what it has read.
  UsageReading read(const std::vector<pid_t>& processes) const;
  void take(const UsageReading& reading, bool by_errand);
  // An orphan that the supervisor has waited for: seconds of CPU time, with its own children's.
  void on_reaped(double seconds) { reaped_by_supervisor_ += seconds; }

  // Seconds of CPU time since the session was made, of every process that was ever in it. The interpreter's is current,
  // the others' are as of the last look. A process that ends while an errand looks may be counted twice, by itself and
  // with its parent, so after an errand the lower of the last two counts is taken. For processes that nobody waits for
  // (SIGCHLD ignored) the time is estimated, by how often a look found them running.
  double cpu() const;
  std::int64_t processes() const { return static_cast<std::int64_t>(members_.size()); }
  std::int64_t tasks() const { return tasks_; }              // processes and threads
  std::int64_t descriptors() const { return descriptors_; }  // open ones of all processes; as far as the kernel tells

  // Bytes of memory, of page tables, and of what many open pipes and sockets may hold, that the session adds to what
  // all sessions share: at least what it uses, more where its processes share pages with each other.
  std::int64_t memory() const { return memory_; }
  // Part of that, which is certain: programs that were started anew share none with each other, and what a process has
  // got since it was first seen it can share with its own later forks alone, which began with it.
  std::int64_t certain_memory() const { return certain_; }
  // A call begins, whose highest point is to be known. Of an interpreter with other threads the kernel's mark is not
  // put back, which takes a lock that a thread that forks holds long: the looks have to do then.
  void begin_peak();
  bool knows_peak() const { return processes() <= 1 && old_peak_ == 0; }
  // The same as memory() of the interpreter alone at its highest point since begin_peak(), as of the last look: to be
  // asked at the end of a call.
  std::int64_t interpreter_peak();

  // Whether exact_memory() is to be asked: memory() may be too much by pages that are counted twice, and that could
  // have changed; or there are several processes, whose mappings nobody has counted for a while.
  bool needs_exact(std::int64_t limit) const;
  void take_exact(const ExactMemory& exact, Clock::duration took);
  std::int64_t exact() const { return exact_ + buffers_ + mappings_; }  // as it said
  // The same as it was then: memory() may be too little where single faults bring huge pages.
  std::int64_t measured() const { return measured_; }
  // Whether the kernel shows too little of a process to know what it uses.
  bool has_hidden() const { return has_hidden_; }

 private:
  struct Member {
    double cpu = 0;
    bool running = false, hidden = false;
    int looks_starting = 0;  // one after another
    std::uint64_t stack = 0;
    std::int64_t first = 0;  // bytes of anonymous memory when its program was first seen
  };
  Sample sample_of(pid_t process) const;
  bool wants_buffers(std::int64_t descriptors) const;
  void take_buffers(const UsageReading& reading);
  void count_vanished(const std::map<pid_t, Member>& now, double seconds);
  void count_lost();
  std::int64_t owned(pid_t process, const MemoryUse& memory, const Times& times, std::int64_t resident) const;

  pid_t interpreter_ = 0, reaper_ = 0;
  TemplateMemory shared_;
  double reaper_before_ = 0;  // seconds that it had counted for others
  std::map<pid_t, Member> members_;
  Clock::time_point made_, looked_, next_asking_;
  MemoryUse interpreter_memory_;                  // at the last look
  Times interpreter_times_;                       // likewise
  double interpreter_cpu_ = 0, reaper_cpu_ = -1;  // seconds, likewise
  double others_ = 0;                             // seconds of living processes, but the interpreter
  double reaped_ = 0;                             // of those that were waited for
  double reaped_by_supervisor_ = 0;
  double vanished_ = 0;       // of those that are gone, by what was seen of them
  double lost_ = 0;           // of those that are gone and were not waited for
  double beside_ = 0;         // of all but the interpreter, at the last look
  double beside_before_ = 0;  // the same at the look before, where an errand read the last one
  std::int64_t tasks_ = 0, descriptors_ = 0, memory_ = 0, certain_ = 0, faults_ = 0;
  bool has_hidden_ = false;
  std::int64_t old_peak_ = 0;                         // the kernel's mark when the call began; 0: it was put back
  std::int64_t known_shared_ = 0, known_faults_ = 0;  // of the interpreter and the template, and how many faults ago
  std::int64_t buffers_ = 0, buffers_of_ = -1;        // and of how many descriptors
  int looks_ = 0;
  // At the last exact measure.
  std::int64_t exact_ = 0, exact_growth_ = 0, mappings_ = 0, measured_ = 0;
  Clock::time_point exact_at_;
  Clock::duration exact_took_{};
  bool has_exact_ = false;
};

}  // namespace agon::sandbox::launcher
