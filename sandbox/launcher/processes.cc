#include "sandbox/launcher/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "sandbox/launcher/descriptor.h"
#include "sandbox/launcher/small_file.h"

namespace agon::sandbox::launcher {
namespace {

// Whole, or empty where there is no such process.
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

// All children of all threads of a process: they hang on the thread that started them.
std::string children_of(pid_t pid) {
  std::string children;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone))
    children += read_proc(pid, ("task/" + thread.path().filename().string() + "/children").c_str());
  return children;
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

pid_t parent_of(pid_t pid) { return static_cast<pid_t>(number(status_field(pid, "PPid"))); }

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

ProcessUse process_use(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  return {kilobytes(status, "RssAnon") + kilobytes(status, "RssShmem"), number(field(status, "Threads"))};
}

std::int64_t proportional_memory(pid_t pid) {
  const std::string rollup = read_proc(pid, "smaps_rollup");
  if (rollup.empty()) return process_use(pid).memory;
  return kilobytes(rollup, "Pss_Anon") + kilobytes(rollup, "Pss_Shmem");
}

std::int64_t peak_memory(pid_t pid) { return kilobytes(read_proc(pid, "status"), "VmHWM"); }
std::int64_t file_memory(pid_t pid) { return kilobytes(read_proc(pid, "status"), "RssFile"); }

void reset_peak_memory(pid_t pid) {
  const Descriptor file(open(fmt::format("/proc/{}/clear_refs", pid).c_str(), O_WRONLY | O_CLOEXEC));
  if (file && write(file.get(), "5", 1) != 1) return;
}

double cpu_seconds(pid_t pid) {
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double reaped_cpu_seconds(pid_t pid) {
  const std::string stat = read_proc(pid, "stat");
  const std::size_t name_end = stat.rfind(')');  // a name may hold anything
  if (name_end == std::string::npos) return 0;
  long user = 0, system = 0;
  if (std::sscanf(stat.c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &user,
                  &system) != 2)
    return 0;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<Waiting> waiting_in(pid_t pid) {
  const std::string text = read_proc(pid, "syscall");
  Waiting waiting;
  if (std::sscanf(text.c_str(), "%ld %lx", &waiting.number, reinterpret_cast<unsigned long*>(&waiting.argument)) != 2)
    return std::nullopt;
  return waiting;
}

std::string status_field(pid_t pid, const std::string& name) { return field(read_proc(pid, "status"), name); }

}  // namespace agon::sandbox::launcher
