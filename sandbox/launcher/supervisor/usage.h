// sandbox/launcher/supervisor/usage.h - measures what the processes of a session use together if no cgroup counts it,
// from /proc at each look. A look usually reads a few small files per process. But if a process starts a program or
// ends at that moment, the reader may be the last user of its memory and has to free it: a tenth of a second for 60,000
// mappings.
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

// The memory that a fresh interpreter shares with the template, and so with all sessions.
struct TemplateMemory {
  std::int64_t resident = 0, page_tables = 0;  // bytes
  std::int64_t mappings = 0;
  std::uint64_t stack = 0;  // tells a fork of the template from a program that was started anew
  static TemplateMemory of(pid_t process);
};

// Memory of processes in addition to the template's, in bytes. pages: pages, where shared ones count once, and page
// tables. mappings: the kernel's records of mappings.
struct ExactMemory {
  std::int64_t pages = 0, mappings = 0;
};
// Slow, so errands call it.
ExactMemory exact_memory(const std::vector<pid_t>& processes, const TemplateMemory& shared);

// The figures that a look reads of one process.
struct Sample {
  pid_t process = 0;
  double cpu = 0;  // seconds
  Times times;
  MemoryUse memory;
  Descriptors open;
  bool is_borrowing = false;  // it runs in its parent's memory
  bool is_starting = false;   // it is starting another program, so only the state in `times` is known
};
// The figures that a look reads of all processes.
struct UsageReading {
  std::vector<Sample> samples;
  double reaped_by_reaper = 0;          // CPU seconds of all processes that the reaper ever waited for
  double reaped_by_supervisor = 0;      // CPU seconds of those that the supervisor had, when the reading began
  std::optional<std::int64_t> buffers;  // bytes that pipes and sockets may hold, if they were read
};
std::string to_bytes(const UsageReading& reading);
UsageReading reading_from(std::string_view bytes);

class Usage {
 public:
  using Clock = std::chrono::steady_clock;

  // interpreter: the session's first own process. reaper: the process that adopts its orphans; 0: the supervisor, which
  // reports them by on_reaped().
  Usage() = default;
  Usage(pid_t interpreter, pid_t reaper, const TemplateMemory& shared);

  // Whether nothing has run since the last look, judged by a cheap check.
  bool at_rest(const std::vector<pid_t>& processes) const;
  // Reads all figures again. `processes`: all of the session, including the interpreter.
  void look(const std::vector<pid_t>& processes);
  // The same in two steps, so that an errand can do the reading: read() changes nothing, take() stores a reading.
  UsageReading read(const std::vector<pid_t>& processes) const;
  void take(const UsageReading& reading, bool by_errand);
  // Counts an orphan that the supervisor has waited for: CPU seconds, with its own children's.
  void on_reaped(double seconds) { reaped_by_supervisor_ += seconds; }

  // CPU seconds since the session was made, of every process that was ever in it. The interpreter's are current, the
  // others' are from the last look. A process that ends while an errand looks may be counted twice, by itself and with
  // its parent, so after an errand the lower of the last two counts is taken. For processes that nobody waits for
  // (SIGCHLD ignored) the time is estimated from how often a look found them running.
  double cpu() const;
  std::int64_t processes() const { return static_cast<std::int64_t>(members_.size()); }
  std::int64_t tasks() const { return tasks_; }              // processes and threads
  std::int64_t descriptors() const { return descriptors_; }  // open ones of all processes, if the kernel tells

  // Bytes that the session adds to the memory that all sessions share: memory, page tables, and the contents that its
  // pipes and sockets may have, if many are open. At least what it uses; more if its processes share pages with each
  // other.
  std::int64_t memory() const { return memory_; }
  // The part of memory() that surely counts no page twice. Newly started programs share no pages with each other.
  // Memory that a process has gained since it was first seen can be shared only with its own later forks, which have
  // not gained it.
  std::int64_t certain_memory() const { return certain_; }
  // Starts to measure the peak of a call. If the interpreter has other threads, the kernel's high-water mark is not
  // reset: that takes a lock which a forking thread holds for long. The looks then have to suffice.
  void begin_peak();
  bool knows_peak() const { return processes() <= 1 && old_peak_ == 0; }
  // Like memory(), for the interpreter alone, at its highest point since begin_peak(), as of the last look. Call it at
  // the end of a call.
  std::int64_t interpreter_peak();

  // Whether exact_memory() should be read: memory() exceeds `limit`, perhaps only because it counts shared pages twice,
  // and the last exact measure may be outdated; or there are several processes, and the last measure is old.
  bool needs_exact(std::int64_t limit) const;
  void take_exact(const ExactMemory& exact, Clock::duration took);
  std::int64_t exact() const { return exact_ + buffers_ + mappings_; }  // last exact measure, with present buffers
  // exact() at the time of that measure. memory() may be too low if single faults bring huge pages.
  std::int64_t measured() const { return measured_; }
  // Whether the kernel shows too little of a process to know what it uses.
  bool has_hidden() const { return has_hidden_; }

 private:
  struct Member {
    double cpu = 0;
    bool running = false, hidden = false;
    int looks_starting = 0;  // consecutive looks that found it starting
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
  double reaper_before_ = 0;  // seconds that the reaper had counted for others
  std::map<pid_t, Member> members_;
  Clock::time_point made_, looked_, next_asking_;
  MemoryUse interpreter_memory_;                  // at the last look
  Times interpreter_times_;                       // likewise
  double interpreter_cpu_ = 0, reaper_cpu_ = -1;  // seconds, likewise
  double others_ = 0;                             // seconds of living processes except the interpreter
  double reaped_ = 0;                             // of processes that were waited for
  double reaped_by_supervisor_ = 0;
  double vanished_ = 0;       // of processes that are gone, as far as they were seen
  double lost_ = 0;           // of processes that are gone and were not waited for
  double beside_ = 0;         // of all except the interpreter, at the last look
  double beside_before_ = 0;  // the same at the look before, if an errand read the last one
  std::int64_t tasks_ = 0, descriptors_ = 0, memory_ = 0, certain_ = 0, faults_ = 0;
  bool has_hidden_ = false;
  std::int64_t old_peak_ = 0;                         // the kernel's mark when the call began; 0: it was reset
  std::int64_t known_shared_ = 0, known_faults_ = 0;  // bytes that interpreter and template share; its faults then
  std::int64_t buffers_ = 0, buffers_of_ = -1;        // bytes, and the number of descriptors then
  int looks_ = 0;
  // At the last exact measure.
  std::int64_t exact_ = 0, exact_growth_ = 0, mappings_ = 0, measured_ = 0;
  Clock::time_point exact_at_;
  Clock::duration exact_took_{};
  bool has_exact_ = false;
};

}  // namespace agon::sandbox::launcher
