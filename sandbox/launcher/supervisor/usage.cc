#include "sandbox/launcher/supervisor/usage.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace agon::sandbox::launcher {
namespace {

constexpr std::int64_t kPage = 4096;  // bytes
// A session has lost CPU time only if at least this much is missing, because the looks are a sample.
constexpr double kLeastLost = 0.1, kShareOfReaped = 0.05;  // seconds
constexpr auto kExactAgain = std::chrono::seconds(1);
constexpr int kAskingPause = 20;  // times as long as the last read took
constexpr int kExactPause = 4;    // times the CPU time of the last measure
constexpr int kIdlePause = 32;    // likewise, below the limit: the CPU time of errands counts for no session

constexpr int kLooksStarting = 50;  // looks that a program may take to start: code could pretend to start one forever
constexpr std::int64_t kFewDescriptors = 64;

double seconds_of(Usage::Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// Finds the processes that run in their parents' memory. The kernel blocks such a query while one of the two processes
// starts a program. So only processes whose stacks begin at the same address are queried. A process whose first thread
// has ended has no such address.
class Memories {
 public:
  explicit Memories(const std::vector<pid_t>& processes) : processes_(processes) {}

  bool is_borrowed(pid_t process, const Times& times) {
    stacks_[process] = times.stack;
    return times.state != 'Z' && std::find(processes_.begin(), processes_.end(), times.parent) != processes_.end() &&
           stack_of(times.parent) == times.stack && is_in_memory_of(process, times.parent);
  }

 private:
  std::uint64_t stack_of(pid_t process) {
    const auto [known, is_new] = stacks_.try_emplace(process);
    if (is_new) known->second = times_of(process).stack;
    return known->second;
  }

  const std::vector<pid_t>& processes_;
  std::map<pid_t, std::uint64_t> stacks_;
};

struct Totals {
  double reaped_by_reaper = 0, reaped_by_supervisor = 0;
  std::int64_t buffers = -1;
};

bool is_running(char state) { return state == 'R' || state == 'D'; }

}  // namespace

TemplateMemory TemplateMemory::of(pid_t process) {
  const MemoryUse memory = memory_use(process);
  return {memory.resident, memory.page_tables, mappings_of(process), times_of(process).stack};
}

std::string to_bytes(const UsageReading& reading) {
  static_assert(std::is_trivially_copyable_v<Sample>);
  const Totals totals{reading.reaped_by_reaper, reading.reaped_by_supervisor, reading.buffers.value_or(-1)};
  std::string bytes(sizeof totals + reading.samples.size() * sizeof(Sample), '\0');
  std::memcpy(bytes.data(), &totals, sizeof totals);
  if (!reading.samples.empty())
    std::memcpy(bytes.data() + sizeof totals, reading.samples.data(), bytes.size() - sizeof totals);
  return bytes;
}

UsageReading reading_from(std::string_view bytes) {
  Totals totals;
  std::memcpy(&totals, bytes.data(), sizeof totals);
  UsageReading reading;
  reading.reaped_by_reaper = totals.reaped_by_reaper;
  reading.reaped_by_supervisor = totals.reaped_by_supervisor;
  if (totals.buffers >= 0) reading.buffers = totals.buffers;
  reading.samples.resize((bytes.size() - sizeof totals) / sizeof(Sample));
  if (!reading.samples.empty())
    std::memcpy(reading.samples.data(), bytes.data() + sizeof totals, reading.samples.size() * sizeof(Sample));
  return reading;
}

Usage::Usage(pid_t interpreter, pid_t reaper, const TemplateMemory& shared)
    : interpreter_(interpreter),
      reaper_(reaper),
      shared_(shared),
      reaper_before_(reaper ? times_of(reaper).reaped : 0),
      made_(Clock::now()),
      looked_(made_) {}

// A fork begins with all of the template's pages and gives back or copies some. Each page that it has gained since,
// including each copy, was a fault. So it shares at most the pages that it began with, less its faults.
std::int64_t Usage::owned(pid_t process, const MemoryUse& memory, const Times& times, std::int64_t resident) const {
  if (times.stack != shared_.stack) return resident + memory.page_tables;
  std::int64_t left = shared_.resident - times.faults * kPage;
  if (process == interpreter_) left = std::max(left, known_shared_ - (times.faults - known_faults_) * kPage);
  const std::int64_t still_shared = std::clamp<std::int64_t>(left, 0, std::min(resident, shared_.resident));
  return resident - still_shared + std::max<std::int64_t>(0, memory.page_tables - shared_.page_tables);
}

bool Usage::at_rest(const std::vector<pid_t>& processes) const {
  return members_.size() == 1 && processes == std::vector<pid_t>{interpreter_} && tasks_ == 1 &&
         cpu_seconds(interpreter_) == interpreter_cpu_ && (reaper_ == 0 || times_of(reaper_).reaped == reaper_cpu_);
}

void Usage::look(const std::vector<pid_t>& processes) { take(read(processes), false); }

// While a program starts, only its memory can be read. That may last long if the processor is busy or the previous
// memory was large.
Sample Usage::sample_of(pid_t process) const {
  const auto before = members_.find(process);
  Sample sample{process, cpu_seconds(process)};
  sample.memory = memory_use(process);
  sample.is_starting = sample.memory.is_starting;
  if (sample.is_starting && (before == members_.end() || before->second.looks_starting < kLooksStarting)) {
    sample.times.state = 'R';
    return sample;
  }
  sample.times = times_of(process);
  // If a program has started in between, read again: better too little than the memory of the previous program.
  const std::uint64_t known = before == members_.end() ? shared_.stack : before->second.stack;
  if (sample.times.stack != known) sample.memory = memory_use(process);
  return sample;
}

UsageReading Usage::read(const std::vector<pid_t>& processes) const {
  UsageReading reading;
  reading.reaped_by_reaper = reaper_ ? times_of(reaper_).reaped : 0;
  reading.reaped_by_supervisor = reaped_by_supervisor_;
  std::int64_t descriptors = 0;
  Memories memories(processes);
  for (const pid_t process : processes) {
    Sample sample = sample_of(process);
    if (sample.times.state == 0) continue;
    sample.is_borrowing = memories.is_borrowed(process, sample.times);
    sample.open = descriptors_of(process);
    descriptors += sample.open.number;
    reading.samples.push_back(sample);
  }
  if (!wants_buffers(descriptors)) return reading;
  std::map<std::uint64_t, std::int64_t> buffers;
  for (const pid_t process : processes)
    if (!memory_use(process).is_starting) add_buffers(process, buffers);
  reading.buffers = 0;
  for (const auto& [inode, bytes] : buffers) *reading.buffers += bytes;
  return reading;
}

void Usage::take(const UsageReading& reading, bool by_errand) {
  std::map<pid_t, Member> now;
  struct Program {
    std::int64_t largest = 0, grown = 0;  // bytes; `grown` is the sum over the program and its forks
  };
  std::map<std::uint64_t, Program> programs;  // by the addresses of their stacks
  tasks_ = descriptors_ = memory_ = faults_ = 0;
  others_ = interpreter_cpu_ = 0;
  has_hidden_ = false;
  reaper_cpu_ = reading.reaped_by_reaper;
  double reaped = reaper_cpu_ - reaper_before_;
  for (const auto& [process, cpu, times, memory, open, is_borrowing, is_starting] : reading.samples) {
    const auto before = members_.find(process);
    Member& member = now[process];
    member = {cpu, is_running(times.state)};
    member.stack = times.stack;
    if (before == members_.end()) member.first = memory.anonymous;
    if (before != members_.end() && before->second.stack == times.stack) member.first = before->second.first;
    if (is_starting) member.looks_starting = before == members_.end() ? 1 : before->second.looks_starting + 1;
    if (process == interpreter_) {
      interpreter_memory_ = memory;
      interpreter_times_ = times;
    }
    (process == interpreter_ ? interpreter_cpu_ : others_) += cpu;
    reaped += times.reaped;
    faults_ += times.faults;
    tasks_ += std::max<std::int64_t>(1, memory.threads);
    descriptors_ += open.number;
    // A process that is ending also shows little for a moment.
    member.hidden = open.hidden && memory.page_tables > 0;
    has_hidden_ = has_hidden_ || (member.hidden && before != members_.end() && before->second.hidden);
    if (is_borrowing) continue;
    memory_ += owned(process, memory, times, memory.resident);
    Program& program = programs[times.stack];
    program.grown += std::max<std::int64_t>(0, memory.anonymous - member.first);
    if (times.stack != shared_.stack) program.largest = std::max(program.largest, memory.anonymous);
  }
  certain_ = 0;
  for (const auto& [stack, program] : programs) certain_ += std::max(program.largest, program.grown);
  take_buffers(reading);
  memory_ += buffers_ + mappings_;
  // Sums of processes that are gone are included in their parents' sums.
  reaped_ = std::max(reaped_, reaped);
  const auto at = Clock::now();
  if (by_errand) count_lost();  // a process that vanished during the read may be in no sum yet
  count_vanished(now, seconds_of(at - looked_));
  if (!by_errand) count_lost();
  looked_ = at;
  members_ = std::move(now);
  const double beside = others_ + reaped_ + reading.reaped_by_supervisor + lost_;
  beside_before_ = by_errand ? beside_ : beside;
  beside_ = beside;
}

// A few descriptors do not matter. Many are read again if their number has changed, and every few looks.
bool Usage::wants_buffers(std::int64_t descriptors) const {
  constexpr int kLooksBetween = 16;
  return descriptors > kFewDescriptors && (descriptors != buffers_of_ || (looks_ + 1) % kLooksBetween == 0);
}

void Usage::take_buffers(const UsageReading& reading) {
  if (descriptors_ <= kFewDescriptors) {
    buffers_ = 0;
    buffers_of_ = -1;
    return;
  }
  ++looks_;
  if (!reading.buffers) return;
  buffers_of_ = descriptors_;
  buffers_ = *reading.buffers;
}

// A process that ran at one look and is gone at the next ran, on average, for the time between two looks. If nobody
// waited for it, no sum of the kernel includes its time.
void Usage::count_vanished(const std::map<pid_t, Member>& now, double seconds) {
  for (const auto& [process, member] : members_) {
    if (now.contains(process)) continue;
    vanished_ += member.running ? std::max(seconds, member.cpu + seconds / 2) : member.cpu;
  }
}

void Usage::count_lost() {
  const double reaped = reaped_ + reaped_by_supervisor_;
  lost_ = std::max(lost_, vanished_ - reaped * (1 + kShareOfReaped) - kLeastLost);
}

double Usage::cpu() const { return cpu_seconds(interpreter_) + std::min(beside_, beside_before_); }

void Usage::begin_peak() {
  old_peak_ = tasks_ <= 1 ? 0 : memory_use(interpreter_).peak;
  if (old_peak_ == 0) reset_peak_memory(interpreter_);
}

// If many faults leave open how much is still shared, the kernel is asked, unless that takes long.
std::int64_t Usage::interpreter_peak() {
  constexpr std::int64_t kMany = 2048, kFew = 256, kQuickly = 128 << 20;  // faults; bytes
  if (!members_.contains(interpreter_)) return 0;
  const MemoryUse& memory = interpreter_memory_;
  const Times& times = interpreter_times_;
  // Threads may hold the lock that this needs.
  const bool is_open = times.faults > kMany && times.faults - known_faults_ > kFew;
  if (is_open && memory.threads == 1 && memory.resident < kQuickly && Clock::now() > next_asking_) {
    const auto start = Clock::now();
    known_shared_ = shared_memory(interpreter_).in_common;
    known_faults_ = times.faults;
    next_asking_ = Clock::now() + kAskingPause * (Clock::now() - start);
  }
  const std::int64_t highest = memory.peak > old_peak_ ? memory.peak - memory.files : 0;
  const std::int64_t peak = std::max(memory.resident, highest);
  return owned(interpreter_, memory, times, memory.resident) + peak - memory.resident;
}

// Faults reveal copies of shared pages, which no sum of resident pages includes.
bool Usage::needs_exact(std::int64_t limit) const {
  const auto unknown = Clock::now() - (has_exact_ ? exact_at_ : made_);
  const auto pause = std::max<Clock::duration>(kExactAgain, kIdlePause * exact_took_);
  if (memory_ <= limit) return members_.size() > 1 && unknown > pause;
  if (!has_exact_) return true;
  const auto age = Clock::now() - exact_at_;
  if (age < kExactPause * exact_took_) return false;
  return age > kExactAgain || exact() + (memory_ + faults_ * kPage - exact_growth_) > limit;
}

void Usage::take_exact(const ExactMemory& exact, Clock::duration took) {
  memory_ += exact.mappings - mappings_;
  exact_ = exact.pages;
  mappings_ = exact.mappings;
  measured_ = this->exact();
  exact_growth_ = memory_ + faults_ * kPage;
  exact_at_ = Clock::now();
  exact_took_ = took;
  has_exact_ = true;
}

ExactMemory exact_memory(const std::vector<pid_t>& processes, const TemplateMemory& shared) {
  // Bytes: of a mapping, and of its link to each process that it was forked from.
  const std::int64_t per_mapping = 256 + 64 * std::ssize(processes);
  std::int64_t proportional = 0, shared_parts = 0, tables = 0, forks = 0, mappings = 0;
  Memories memories(processes);
  for (const pid_t process : processes) {
    const MemoryUse use = memory_use(process);
    if (use.is_starting) {
      proportional += use.resident;
      tables += use.page_tables;
      continue;
    }
    const Times times = times_of(process);
    if (memories.is_borrowed(process, times)) continue;
    const bool is_fork = times.stack == shared.stack;
    const SharedMemory memory = shared_memory(process);
    proportional += memory.proportional;
    tables += std::max<std::int64_t>(0, use.page_tables - (is_fork ? shared.page_tables : 0));
    mappings += std::max<std::int64_t>(0, mappings_of(process) - (is_fork ? shared.mappings : 0));
    if (!is_fork) continue;
    ++forks;
    shared_parts += memory.shared;
  }
  // Each fork has at most an equal part of the template's pages, since the template itself has them too.
  const std::int64_t of_template = std::min(shared_parts, shared.resident * forks / (forks + 1));
  return {proportional - of_template + tables, mappings * per_mapping};
}

}  // namespace agon::sandbox::launcher
