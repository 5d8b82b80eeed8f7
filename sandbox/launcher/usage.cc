#include "sandbox/launcher/usage.h"

#include <unistd.h>

#include <algorithm>

namespace agon::sandbox::launcher {
namespace {

constexpr std::int64_t kPage = 4096;  // bytes
// A session is not taken to have lost CPU time before this much of it is missing: the looks are a sample.
constexpr double kLeastLost = 0.1, kShareOfReaped = 0.05;  // seconds
constexpr auto kExactAgain = std::chrono::seconds(1);
constexpr int kExactPause = 4;  // times as long as the last measure took

double seconds_of(Usage::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

bool is_running(char state) { return state == 'R' || state == 'D'; }

}  // namespace

TemplateMemory TemplateMemory::of(pid_t process) {
  const MemoryUse memory = memory_use(process);
  return {memory.resident, memory.page_tables, times_of(process).stack};
}

Usage::Usage(pid_t interpreter, pid_t reaper, const TemplateMemory& shared)
    : interpreter_(interpreter),
      reaper_(reaper),
      shared_(shared),
      reaper_before_(reaper ? times_of(reaper).reaped : 0),
      looked_(Clock::now()) {}

// A fork begins with all of the template's pages and gives back or copies some. Each page that it took since, a copy
// too, was a fault: no more of the template's can be left than what it began with less those.
std::int64_t Usage::owned(const MemoryUse& memory, const Times& times, std::int64_t resident) const {
  if (times.stack != shared_.stack) return resident + memory.page_tables;
  const std::int64_t still_shared =
      std::clamp<std::int64_t>(shared_.resident - times.faults * kPage, 0, std::min(resident, shared_.resident));
  return resident - still_shared + std::max<std::int64_t>(0, memory.page_tables - shared_.page_tables);
}

void Usage::look(const std::vector<pid_t>& processes) {
  std::map<pid_t, Member> now;
  tasks_ = descriptors_ = memory_ = faults_ = 0;
  others_ = 0;
  double reaped = reaper_ ? times_of(reaper_).reaped - reaper_before_ : 0;
  for (const pid_t process : processes) {
    const double cpu = cpu_seconds(process);
    const MemoryUse memory = memory_use(process);
    const Times times = times_of(process);
    if (times.state == 0) continue;
    now[process] = {cpu, is_running(times.state)};
    if (process != interpreter_) others_ += cpu;
    reaped += times.reaped;
    faults_ += times.faults;
    tasks_ += std::max<std::int64_t>(1, memory.threads);
    descriptors_ += open_descriptors(process).value_or(0);
    memory_ += owned(memory, times, memory.resident);
  }
  // What children of processes that are gone had been waited for is in their own parents' sums.
  reaped_ = std::max(reaped_, reaped);
  const auto at = Clock::now();
  count_vanished(now, seconds_of(at - looked_));
  looked_ = at;
  members_ = std::move(now);
}

// Whoever was running at a look and is gone at the next one ran for as long as the time between two looks, on the
// average. If nobody waited for it, no sum of the kernel's has its time.
void Usage::count_vanished(const std::map<pid_t, Member>& now, double seconds) {
  for (const auto& [process, member] : members_) {
    if (now.contains(process)) continue;
    vanished_ += member.running ? std::max(seconds, member.cpu + seconds / 2) : member.cpu;
  }
  const double reaped = reaped_ + reaped_by_supervisor_;
  lost_ = std::max(lost_, vanished_ - reaped * (1 + kShareOfReaped) - kLeastLost);
}

double Usage::cpu() const { return cpu_seconds(interpreter_) + others_ + reaped_ + reaped_by_supervisor_ + lost_; }

std::int64_t Usage::interpreter_peak() const {
  const MemoryUse memory = memory_use(interpreter_);
  const std::int64_t resident = std::max(memory.resident, memory.peak - memory.files);
  return memory.threads == 0 ? 0 : owned(memory, times_of(interpreter_), resident);
}

// Faults tell of copies of shared pages, which are in no sum of resident ones.
bool Usage::needs_exact(std::int64_t limit) const {
  if (memory_ <= limit) return false;
  if (!has_exact_) return true;
  const auto age = Clock::now() - exact_at_;
  if (age < kExactPause * exact_took_) return false;
  return age > kExactAgain || exact_ + (memory_ + faults_ * kPage - exact_growth_) > limit;
}

void Usage::take_exact(std::int64_t exact, Clock::duration took) {
  exact_ = exact;
  exact_growth_ = memory_ + faults_ * kPage;
  exact_at_ = Clock::now();
  exact_took_ = took;
  has_exact_ = true;
}

std::int64_t exact_memory(const std::vector<pid_t>& processes, const TemplateMemory& shared) {
  std::int64_t proportional = 0, shared_parts = 0, tables = 0, forks = 0;
  for (const pid_t process : processes) {
    const SharedMemory memory = shared_memory(process);
    const bool is_fork = times_of(process).stack == shared.stack;
    proportional += memory.proportional;
    tables += std::max<std::int64_t>(0, memory_use(process).page_tables - (is_fork ? shared.page_tables : 0));
    if (!is_fork) continue;
    ++forks;
    shared_parts += memory.shared;
  }
  // Of the template's pages each fork has at most an equal part, since the template itself has them too.
  const std::int64_t of_template = std::min(shared_parts, shared.resident * forks / (forks + 1));
  return proportional - of_template + tables;
}

}  // namespace agon::sandbox::launcher
