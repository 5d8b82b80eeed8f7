#include "sandbox/launcher/supervisor/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "core/descriptor.h"
#include "sandbox/launcher/small_file.h"

namespace agon::sandbox::launcher {
namespace {

// The whole file, or empty if there is no such process.
std::string read_proc(pid_t pid, const char* name) {
  return read_small_file(AT_FDCWD, fmt::format("/proc/{}/{}", pid, name)).value_or("");
}

std::string field(const std::string& text, const std::string& name) {
  const std::size_t found = text.find(fmt::format("\n{}:", name));
  if (found == std::string::npos) return {};
  const std::size_t begin = text.find_first_not_of(" \t", found + name.size() + 2);
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string> threads_of(pid_t pid) {
  std::vector<std::string> threads;
  std::error_code gone;
  std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", pid), gone);
  for (; thread != std::filesystem::directory_iterator(); thread.increment(gone))
    threads.push_back(thread->path().filename());
  return threads;
}

// All children of a process; /proc lists them by the thread that started them.
std::string children_of(pid_t pid) {
  std::string children;
  for (const std::string& thread : threads_of(pid))
    children += read_proc(pid, ("task/" + thread + "/children").c_str());
  return children;
}

// /proc shows memory, mappings and descriptors of living threads only. Returns "" if the first thread is alive, else
// "task/TID/" of another one.
std::string living_thread(pid_t pid) {
  if (field(read_proc(pid, "status"), "State").substr(0, 1) != "Z") return {};
  for (const std::string& thread : threads_of(pid)) {
    const std::string place = "task/" + thread + "/";
    if (field(read_proc(pid, (place + "status").c_str()), "State").substr(0, 1) != "Z") return place;
  }
  return {};
}

std::int64_t entries_in(const std::string& folder) {
  std::int64_t number = 0;
  std::error_code gone;
  std::filesystem::directory_iterator entry(folder, gone);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(gone)) ++number;
  return number;
}

std::int64_t kilobytes(const std::string& text, const std::string& name) { return number(field(text, name)) << 10; }

}  // namespace

std::vector<pid_t> child_processes(pid_t pid) {
  std::vector<pid_t> found;
  const std::string children = children_of(pid);
  const char* at = children.data();
  const char* end = at + children.size();
  while (at < end) {
    pid_t child = 0;
    const auto [next, failure] = std::from_chars(at, end, child);
    if (failure != std::errc()) break;
    found.push_back(child);
    at = next + 1;
  }
  return found;
}

std::vector<pid_t> process_tree(pid_t root, const std::function<bool(pid_t)>& skip) {
  std::vector<pid_t> tree = {root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const pid_t child : child_processes(tree[i]))
      if (!skip(child)) tree.push_back(child);
  }
  return tree;
}

bool has_ended(pid_t pid) {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno == ESRCH;
  pollfd ended{process.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

pid_t parent_of(pid_t pid) { return static_cast<pid_t>(number(ProcessStatus(pid).field("PPid"))); }

void end_descendants() {
  while (true) {
    for (const pid_t pid : process_tree(getpid(), [](pid_t) { return false; }))
      if (pid != getpid()) ::kill(pid, SIGKILL);
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG | __WALL)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    usleep(1000);
  }
}

MemoryUse memory_use(pid_t pid) {
  std::string status = read_proc(pid, "status");
  const std::int64_t threads = number(field(status, "Threads"));
  if (!status.empty() && threads > 1 && field(status, "RssAnon").empty())
    status = read_proc(pid, (living_thread(pid) + "status").c_str());
  const std::int64_t anonymous = kilobytes(status, "RssAnon") + kilobytes(status, "VmSwap");
  return {anonymous,
          anonymous + kilobytes(status, "RssShmem"),
          kilobytes(status, "VmHWM"),
          kilobytes(status, "RssFile"),
          kilobytes(status, "VmPTE"),
          threads,
          field(status, "VmExe") == "0 kB"};
}

void reset_peak_memory(pid_t pid) {
  const Descriptor file(open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  if (file && write(file.get(), "5", 1) != 1) return;
}

SharedMemory shared_memory(pid_t pid) {
  std::string rollup = read_proc(pid, "smaps_rollup");
  if (rollup.empty()) rollup = read_proc(pid, (living_thread(pid) + "smaps_rollup").c_str());
  if (rollup.empty()) return {memory_use(pid).resident, 0, 0};
  const std::int64_t proportional =
      kilobytes(rollup, "Pss_Anon") + kilobytes(rollup, "Pss_Shmem") + kilobytes(rollup, "SwapPss");
  // Mapped files that were written count as private here too, so the shared part is never too high.
  const std::int64_t own = kilobytes(rollup, "Private_Dirty") + kilobytes(rollup, "SwapPss");
  return {proportional, std::max<std::int64_t>(0, proportional - own), kilobytes(rollup, "Shared_Dirty")};
}

bool is_in_memory_of(pid_t pid, pid_t other) { return syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0) == 0; }

Times times_of(pid_t pid) {
  const std::string stat = read_proc(pid, "stat");
  const std::size_t name_end = stat.rfind(')');  // a name may contain any character
  if (name_end == std::string::npos) return {};
  Times times;
  long faults = 0, user = 0, system = 0;
  unsigned long stack = 0;
  if (std::sscanf(stat.c_str() + name_end + 1,
                  " %c %d %*d %*d %*d %*d %*u %ld %*u %*u %*u %*u %*u %ld %ld %*d %*d %*d %*d %*u %*u %*d %*u %*u %*u "
                  "%lu",
                  &times.state, &times.parent, &faults, &user, &system, &stack) != 6)
    return {};
  times.reaped = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  times.faults = faults;
  times.stack = stack;
  return times;
}

double cpu_seconds(pid_t pid) {
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string descriptors_folder(pid_t pid) { return fmt::format("/proc/{}/{}fd", pid, living_thread(pid)); }

Descriptors descriptors_of(pid_t pid) {
  struct stat folder {};
  if (stat(fmt::format("/proc/{}/fd", pid).c_str(), &folder) != 0) return {};
  std::int64_t number = folder.st_size;
  if (number == 0 || folder.st_uid != geteuid()) {  // before Linux 6.2, or if the first thread has ended
    const std::string place = descriptors_folder(pid);
    number = entries_in(place);
    if (stat(place.c_str(), &folder) != 0) return {};
  }
  return {number, folder.st_uid != geteuid()};
}

std::string mappings_text(pid_t pid) {
  const std::string maps = read_proc(pid, "maps");
  return maps.empty() ? read_proc(pid, (living_thread(pid) + "maps").c_str()) : maps;
}

std::int64_t mappings_of(pid_t pid) {
  const std::string maps = mappings_text(pid);
  return std::count(maps.begin(), maps.end(), '\n');
}

void add_buffers(pid_t pid, std::map<std::uint64_t, std::int64_t>& buffers) {
  constexpr std::int64_t kPipe = 64 << 10, kSocket = 400 << 10;  // maximum; the last message may exceed socket buffers
  std::error_code gone;
  std::filesystem::directory_iterator entry(descriptors_folder(pid), gone);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    std::array<char, 64> target{};
    if (readlink(entry->path().c_str(), target.data(), target.size() - 1) <= 0) continue;
    unsigned long inode = 0;
    if (std::sscanf(target.data(), "pipe:[%lu]", &inode) == 1) buffers[inode] = kPipe;
    if (std::sscanf(target.data(), "socket:[%lu]", &inode) == 1) buffers[inode] = kSocket;
  }
}

std::optional<Waiting> waiting_in(pid_t pid) {
  const std::string text = read_proc(pid, "syscall");
  Waiting waiting;
  if (std::sscanf(text.c_str(), "%ld %lx", &waiting.number, reinterpret_cast<unsigned long*>(&waiting.argument)) != 2)
    return std::nullopt;
  return waiting;
}

ProcessStatus::ProcessStatus(pid_t pid) : text_(read_proc(pid, "status")) {}

std::string ProcessStatus::field(const std::string& name) const { return launcher::field(text_, name); }

std::int64_t ProcessStatus::bytes(const std::string& name) const { return kilobytes(text_, name); }

}  // namespace agon::sandbox::launcher
