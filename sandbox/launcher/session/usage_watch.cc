#include "sandbox/launcher/session/usage_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <system_error>

#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/processes.h"
#include "sandbox/launcher/supervisor/share.h"

namespace agon::sandbox::launcher {
namespace {

using std::chrono::milliseconds;

constexpr auto kLongLook = milliseconds(4);  // and the same again for every 40 processes
constexpr int kErrandLooks = 64;             // looks by errand after a long one
constexpr int kErrandPause = 2;              // between two of these, times the CPU time of the last one
constexpr std::int64_t kFewProcesses = 16;
constexpr std::int64_t kMostDescriptors = 1024;  // open ones of a session: each takes kernel memory

}  // namespace

void UsageWatch::begin(pid_t interpreter, pid_t reaper, const SessionCgroup* cgroup) {
  interpreter_ = interpreter;
  cgroup_ = cgroup;
  usage_ = Usage(interpreter, reaper, surroundings_.template_memory);
}

void UsageWatch::begin_call() {
  looking_ = Errand();  // it has read older figures
  if (!cgroup_) usage_.begin_peak();
}

// Code that has made one look slow can do so again, so errands do the next 64 looks before a direct one is tried again.
// Waiting for a processor does not make a look slow; otherwise a busy machine would delay all looks. A single process
// is read quickly.
void UsageWatch::look() {
  if (interpreter_ == 0) return;
  const std::vector<pid_t> processes = surroundings_.processes(session_, kFresh);
  listed_ = std::ssize(processes);
  if (is_crowded()) return;  // exceeded() reports it
  if (looks_by_errand_ > 0) {
    look_by_errand(processes);
  } else {
    const auto before = Clock::now();
    const auto waited = own_waiting_time();
    usage_.look(processes);
    const auto took = Clock::now() - before - (own_waiting_time() - waited);
    if (listed_ > 1 && took > kLongLook + listed_ * kLongLook / 40) looks_by_errand_ = kErrandLooks;
  }
  if (!cgroup_) measure();
}

// So many processes that it does not matter how many have ended since they were listed.
bool UsageWatch::is_crowded() const { return !cgroup_ && listed_ > 2 * limits_.processes + kFewProcesses; }

void UsageWatch::take_look() {
  const auto outcome = looking_.take();
  if (!outcome) return;
  next_errand_look_ = Clock::now() + kErrandPause * outcome->cpu;
  const std::string bytes = read_all(reading_.get());
  reading_.reset();
  if (outcome->error == 0 && std::ssize(bytes) == outcome->values[0])
    usage_.take(reading_from(bytes), true);
  else
    looks_by_errand_ = 0;  // the next look is direct
}

void UsageWatch::look_by_errand(const std::vector<pid_t>& processes) try {
  take_look();
  if (looks_by_errand_ == 0 || looking_.is_out() || Clock::now() < next_errand_look_ || --looks_by_errand_ == 0) return;
  reading_ = memory_file("agon-look", "");
  looking_ = Errand::start(
      [this, processes, file = reading_.get()] {
        const std::string bytes = to_bytes(usage_.read(processes));
        checked(pwrite(file, bytes.data(), bytes.size(), 0), "writing what was read");
        return Errand::Values{std::ssize(bytes)};
      },
      {reading_.get()});
} catch (const std::system_error&) {
  looks_by_errand_ = 0;
}

// At the end of a call there is nearly always only the interpreter.
void UsageWatch::look_briefly() {
  if (cgroup_ || interpreter_ == 0) return;
  if (looks_by_errand_ == 0 && usage_.processes() <= 1 && child_processes(interpreter_).empty())
    return usage_.look({interpreter_});
  const std::vector<pid_t> processes = surroundings_.processes(session_, kFresh);
  if (processes.size() > 1 && (looks_by_errand_ > 0 || is_crowded())) return take_look();
  looking_ = Errand();  // it has read older figures
  usage_.look(processes);
}

// Only a slow read tells which pages processes share, so an errand does it.
void UsageWatch::measure() {
  if (const auto outcome = measuring_.take()) usage_.take_exact({outcome->values[0], outcome->values[1]}, outcome->cpu);
  if (measuring_.is_out() || !usage_.needs_exact(limits_.memory)) return;
  try {
    measuring_ =
        Errand::start([processes = surroundings_.processes(session_, kFresh), &memory = surroundings_.template_memory] {
          const ExactMemory exact = exact_memory(processes, memory);
          return Errand::Values{exact.pages, exact.mappings};
        });
  } catch (const std::system_error&) {  // tried again at the next look
  }
}

void UsageWatch::stop() {
  looking_ = Errand();
  measuring_ = Errand();
  reading_.reset();
}

// A process that ends during a look may be counted twice, with its parent. So a sum above the limit is read again.
double UsageWatch::cpu_since(double before) {
  const double used = cpu() - before;
  if (used <= limits_.cpu || cgroup_ || looks_by_errand_ > 0) return used;
  usage_.look(surroundings_.processes(session_, kFresh));
  return cpu() - before;
}

std::int64_t UsageWatch::known_memory() const {
  return std::max({usage_.exact(), usage_.measured(), usage_.certain_memory()});
}

std::optional<SessionEnd> UsageWatch::exceeded() const {
  if (usage_.descriptors() > kMostDescriptors)
    return SessionEnd{Reason::process_limit,
                      fmt::format("{} open descriptors, more than {}", usage_.descriptors(), kMostDescriptors)};
  if (cgroup_) return std::nullopt;  // the kernel enforces the rest
  const bool may_exceed = usage_.memory() > limits_.memory || usage_.measured() > limits_.memory;
  if (may_exceed && known_memory() > limits_.memory)
    return SessionEnd{Reason::memory_limit,
                      fmt::format("{} bytes of memory, more than {}", known_memory(), limits_.memory)};
  if (!surroundings_.walls.has_namespaces() && usage_.has_hidden())
    return SessionEnd{Reason::process_limit, "a program that may not be read runs, and nobody can see what it uses"};
  if (const std::int64_t tasks = is_crowded() ? listed_ : usage_.tasks(); tasks > limits_.processes)
    return SessionEnd{Reason::process_limit,
                      fmt::format("{} processes and threads, more than {}", tasks, limits_.processes)};
  return std::nullopt;
}

}  // namespace agon::sandbox::launcher
