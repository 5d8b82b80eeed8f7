#include "sandbox/launcher/isolation/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/launcher/small_file.h"

namespace agon::sandbox::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHost = "agon-host";
constexpr std::string_view kSandbox = "agon-sandbox-";
constexpr auto kEmptying = std::chrono::seconds(2);  // longest wait for killed processes to end

// mountinfo writes blanks and similar characters as octal escapes, such as \040.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct CgroupMount {
  std::string root, place;
};

std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string& line : split(mountinfo, "\n")) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos || !std::string_view(line).substr(dash + 3).starts_with("cgroup2 ")) continue;
    const std::vector<std::string> fields = split(line, " ");
    if (fields.size() > 4) mounts.push_back({unescaped(fields[3]), unescaped(fields[4])});
  }
  return mounts;
}

std::int64_t number_of(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

// Reads the value from a line "name value".
std::int64_t value_in(int folder, const std::string& file, std::string_view name) {
  for (const std::string& line : split(read_small_file(folder, file).value_or(""), "\n"))
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ')
      return number_of(line.substr(name.size() + 1));
  return 0;
}

// Waits until the current holder releases it.
FileLock lock_folder(const fs::path& path) {
  FileLock folder(Descriptor(
      checked(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening the cgroup " + path.string())));
  folder.lock();
  return folder;
}

// Ends everything in a cgroup and removes it. What cannot be removed is left for the next sweep.
void remove_cgroup(const fs::path& path) {
  const auto start = std::chrono::steady_clock::now();
  do {
    try {
      write_small_file(AT_FDCWD, path / "cgroup.kill", "1");
    } catch (const std::system_error&) {  // it no longer exists
    }
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path, ignored))
      if (entry.is_directory(ignored)) rmdir(entry.path().c_str());
    if (rmdir(path.c_str()) == 0 || errno == ENOENT) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  } while (std::chrono::steady_clock::now() - start < kEmptying);
}

void sweep(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kSandbox)) continue;
    FileLock folder(Descriptor(open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    if (folder && folder.try_lock()) remove_cgroup(entry.path());
  }
}

bool has_words(const std::string& text, std::initializer_list<std::string_view> words) {
  const std::vector<std::string> there = split_words(text);
  return std::all_of(words.begin(), words.end(),
                     [&](std::string_view word) { return std::find(there.begin(), there.end(), word) != there.end(); });
}

bool switch_on_controllers(const fs::path& cgroup) {
  if (has_words(read_small_file(AT_FDCWD, cgroup / "cgroup.subtree_control").value_or(""), {"memory", "pids"}))
    return true;
  try {
    write_small_file(AT_FDCWD, cgroup / "cgroup.subtree_control", "+memory +pids");
    return true;
  } catch (const std::system_error& error) {
    if (error.code().value() == EBUSY) return false;  // there are processes in it
    throw;
  }
}

constexpr const char* kDelegate =
    "Start the program in a cgroup of its own: systemd-run --user --scope -p Delegate=yes PROGRAM";

void move_host_aside(const fs::path& cgroup) {
  const std::vector<std::string> ours = {std::to_string(getpid()), std::to_string(getppid())};
  for (const std::string& process : split_words(read_small_file(AT_FDCWD, cgroup / "cgroup.procs").value_or("")))
    if (std::find(ours.begin(), ours.end(), process) == ours.end())
      throw Error("the cgroup {} also holds other processes, such as {}, and agon does not move them. {}",
                  cgroup.string(), process, kDelegate);
  if (mkdir((cgroup / kHost).c_str(), 0755) != 0 && errno != EEXIST) checked(-1, "making a cgroup");
  for (const std::string& process : ours) write_small_file(AT_FDCWD, cgroup / kHost / "cgroup.procs", process);
}

void give_to(const fs::path& cgroup, uid_t user, gid_t group) {
  for (const char* file : {"", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"}) {
    const fs::path path = *file ? cgroup / file : cgroup;
    checked(chown(path.c_str(), user, group), "giving the cgroup to the sandbox's user");
  }
}

void make_cgroup(const fs::path& path) {
  if (mkdir(path.c_str(), 0755) == 0) return;
  throw Error("cannot create a cgroup in {}: {}. {}", path.parent_path().string(), std::strerror(errno), kDelegate);
}

// Throws Error if the kernel would not enforce the limits.
fs::path delegated_cgroup() {
  fs::path own = own_cgroup_folder(read_small_file(AT_FDCWD, "/proc/self/cgroup").value_or(""),
                                   read_small_file(AT_FDCWD, "/proc/self/mountinfo").value_or(""));
  if (own.filename() == kHost) own = own.parent_path();
  const std::string controllers = read_small_file(AT_FDCWD, own / "cgroup.controllers").value_or("");
  if (!has_words(controllers, {"memory", "pids"}))
    throw Error("the cgroup {} needs the controllers memory and pids, but has: {}. {}", own.string(),
                controllers.find_first_not_of(" \n") == std::string::npos ? "none" : trim(controllers),
                fs::exists("/sys/fs/cgroup/memory") ? "This machine keeps them in cgroup v1" : kDelegate);
  return own;
}

}  // namespace

std::string own_cgroup_folder(std::string_view cgroup, std::string_view mountinfo) {
  std::optional<std::string> own;
  for (const std::string& line : split(cgroup, "\n"))
    if (line.starts_with("0::/")) own = line.substr(3);
  if (!own) throw Error("this kernel has no cgroup v2: /proc/self/cgroup has no line '0::'");
  const std::vector<CgroupMount> mounts = cgroup_mounts(mountinfo);
  for (const CgroupMount& mount : mounts) {
    const std::string root = mount.root == "/" ? "" : mount.root;
    if (own->starts_with(root) && (own->size() == root.size() || own->at(root.size()) == '/'))
      return fs::path(mount.place + own->substr(root.size())).lexically_normal();
  }
  if (mounts.empty()) throw Error("no cgroup v2 is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup");
  throw Error("the cgroup {} of this process is outside the cgroup tree mounted at {}", *own, mounts.front().place);
}

SandboxCgroup::SandboxCgroup(uid_t user, gid_t group) {
  const fs::path own = delegated_cgroup();
  const FileLock parent = lock_folder(own);  // until path_ is locked, so that nobody takes it for a stale one
  sweep(own);
  path_ = own / (std::string(kSandbox) + std::to_string(getpid()));
  make_cgroup(path_);
  try {
    folder_ = lock_folder(path_);
    if (!switch_on_controllers(own)) {
      move_host_aside(own);
      if (!switch_on_controllers(own))
        throw Error("the cgroup {} cannot enable its controllers for its children: it is not empty", own.string());
    }
    if (!fs::exists(path_ / "cgroup.kill"))
      throw Error("this kernel cannot end a cgroup as a whole (cgroup.kill, Linux 5.14)");
    switch_on_controllers(path_);
    make_cgroup(path_ / "supervisor");
    give_to(path_, user, group);
    give_to(path_ / "supervisor", user, group);
  } catch (...) {
    remove_cgroup(path_);
    throw;
  }
}

SandboxCgroup::~SandboxCgroup() { remove_cgroup(path_); }

void SandboxCgroup::add_supervisor(pid_t process) {
  write_small_file(AT_FDCWD, path_ / "supervisor/cgroup.procs", std::to_string(process));
}

SessionCgroup::SessionCgroup(int sandbox, int session, const Limits& limits)
    : sandbox_(sandbox), name_(fmt::format("session-{}", session)) {
  checked(mkdirat(sandbox, name_.c_str(), 0755), "making a cgroup");
  folder_ = Descriptor(checked(openat(sandbox, name_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening a cgroup"));
  write_small_file(folder_.get(), "memory.max", std::to_string(limits.memory));
  write_small_file(folder_.get(), "memory.oom.group", "1");
  write_small_file(folder_.get(), "pids.max", std::to_string(limits.processes));
  if (faccessat(folder_.get(), "memory.swap.max", F_OK, 0) == 0)  // kernels without swap have none
    write_small_file(folder_.get(), "memory.swap.max", "0");
}

SessionCgroup::~SessionCgroup() { unlinkat(sandbox_, name_.c_str(), AT_REMOVEDIR); }

void SessionCgroup::add(pid_t process) { write_small_file(folder_.get(), "cgroup.procs", std::to_string(process)); }

void SessionCgroup::kill() { write_small_file(folder_.get(), "cgroup.kill", "1"); }

std::int64_t SessionCgroup::memory() const { return number_of(read_small_file(folder_.get(), "memory.current")); }
std::int64_t SessionCgroup::peak_memory() const { return number_of(read_small_file(folder_.get(), "memory.peak")); }

double SessionCgroup::cpu_seconds() const {
  return 1e-6 * static_cast<double>(value_in(folder_.get(), "cpu.stat", "usage_usec"));
}

std::int64_t SessionCgroup::memory_kills() const { return value_in(folder_.get(), "memory.events", "oom_kill"); }
std::int64_t SessionCgroup::process_refusals() const { return value_in(folder_.get(), "pids.events", "max"); }

}  // namespace agon::sandbox::launcher
