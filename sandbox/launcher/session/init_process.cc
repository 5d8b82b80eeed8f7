#include "sandbox/launcher/session/init_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "core/text.h"
#include "sandbox/launcher/isolation/capabilities.h"
#include "sandbox/launcher/isolation/private_root.h"
#include "sandbox/launcher/session/copy_folder.h"
#include "sandbox/launcher/session/home_folder.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {
namespace {

// Progress of making an init process, reported by the process itself or by the helper that starts it.
struct Progress {
  int code = 0;       // errno; 0: success
  pid_t process = 0;  // the new process, reported by the helper; 0: the init process reports that it is made
  char what[240] = {};
};

void tell(int socket, const Progress& progress) {
  if (send(socket, &progress, sizeof progress, MSG_NOSIGNAL) != sizeof progress) _exit(2);
}

Progress failure(const std::system_error& error) {
  Progress progress;
  progress.code = error.code().value();
  std::strncpy(progress.what, error.what(), sizeof progress.what - 1);
  return progress;
}

pid_t clone_with(unsigned long flags) {
  return static_cast<pid_t>(
      checked(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr), "new namespaces"));
}

void mount_home(const Limits& limits, bool copy) {
  const Folder before = Folder::at(kHome);
  const std::string options =
      fmt::format("mode=0755,size={},nr_inodes={}", limits.disk, limits.inodes + std::ssize(kHomeFolders) + 1);
  checked(mount("home", kHome, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()), "mounting the home");
  const Folder home = Folder::at(kHome);
  if (copy) return FolderCopy(limits.disk, limits.inodes + std::ssize(kHomeFolders)).add(before, home);
  for (const char* name : kHomeFolders) home.make(name);
}

void settle_in(const Limits& limits, bool copy) {
  umask(0);
  write_small_file(AT_FDCWD, "/proc/self/setgroups", "deny");
  write_small_file(AT_FDCWD, "/proc/self/uid_map", "1000 1000 1");
  write_small_file(AT_FDCWD, "/proc/self/gid_map", "1000 1000 1");
  checked(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr), "mounting /proc");
  mount_home(limits, copy);
  drop_capabilities();
}

// Whether a process that has ended was in a pid namespace within this one. Guests can make none, so it was the
// interpreter of a fork.
bool was_of_fork(pid_t process) { return split_words(ProcessStatus(process).field("NSpid")).size() > 1; }

[[noreturn]] void reap(int reports) {
  while (true) {
    siginfo_t ended{};
    if (waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT | __WALL) == 0) {
      const bool tells = was_of_fork(ended.si_pid);
      Report report{ended.si_pid, 0};
      if (waitpid(ended.si_pid, &report.status, __WALL) < 0 || !tells) continue;
      if (send(reports, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno != EAGAIN) _exit(0);  // nobody listens
    } else if (errno == ECHILD) {
      siginfo_t ignored;
      sigset_t child;
      sigemptyset(&child);
      sigaddset(&child, SIGCHLD);
      sigwaitinfo(&child, &ignored);
    }
  }
}

[[noreturn]] void be_init(int progress, int reports, const Limits& limits, bool copy) {
  try {
    // Dumpable, so that it owns its /proc/self and the supervisor may open its namespaces. Guests may not: they are in
    // a Landlock domain, and it is not.
    checked(prctl(PR_SET_DUMPABLE, 1), "prctl");
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    prctl(PR_SET_NAME, "agon-init");
    settle_in(limits, copy);
    tell(progress, {});
  } catch (const std::system_error& error) {
    tell(progress, failure(error));
    _exit(1);
  }
  // Closes all other descriptors of the supervisor.
  const int low = checked(dup3(reports, 0, 0), "dup3");
  syscall(SYS_close_range, 1, ~0u, 0);
  reap(low);
}

Descriptor open_namespace(pid_t process, const char* name) {
  const std::string path = fmt::format("/proc/{}/ns/{}", process, name);
  return Descriptor(checked(open(path.c_str(), O_RDONLY | O_CLOEXEC), "opening " + path));
}

constexpr unsigned long kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;

// Runs in a helper: starts `be` in namespaces within the given ones, and reports that process. Only a child of the
// helper is in the pid namespace that the helper enters and can make one within it. CLONE_PARENT makes the new process
// the helper's child, and so the supervisor's when the helper ends.
[[noreturn]] void make_within(const InitProcess::Namespaces& namespaces, int progress,
                              const std::function<void()>& be) {
  try {
    for (const Descriptor* space : {&namespaces.users, &namespaces.mounts, &namespaces.pids})
      checked(setns(space->get(), 0), "entering the namespaces");
    const pid_t inside = checked(fork(), "fork");
    if (inside == 0) {
      if (clone_with(kNamespaces | CLONE_PARENT) == 0) be();
      _exit(0);
    }
    int status = 0;
    waitpid(inside, &status, 0);
    for (const pid_t born : child_processes(getpid())) tell(progress, {0, born, {}});
  } catch (const std::system_error& error) {
    tell(progress, failure(error));
  }
  _exit(0);
}

}  // namespace

InitProcess InitProcess::start(const InitProcess* parent, const Limits& limits, const Descriptor& reports) {
  InitProcess init;
  SocketPair progress = make_socket_pair(SOCK_SEQPACKET);
  init.progress_ = std::move(progress.ours);
  const int theirs = progress.theirs.get();
  if (!parent) {
    init.process_ = clone_with(kNamespaces);
    if (init.process_ == 0) be_init(theirs, reports.get(), limits, false);
    return init;
  }
  const Namespaces namespaces = parent->namespaces();
  if (checked(fork(), "fork") == 0)
    make_within(namespaces, theirs, [&] { be_init(theirs, reports.get(), limits, true); });
  return init;
}

InitProcess::InitProcess(InitProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)), progress_(std::move(other.progress_)) {}

InitProcess& InitProcess::operator=(InitProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(progress_, other.progress_);
  return *this;
}

InitProcess::~InitProcess() {
  if (process_ != 0) ::kill(process_, SIGKILL);
}

bool InitProcess::advance() {
  while (progress_) {
    Progress progress;
    const Received got = receive_message(progress_.get(), &progress, sizeof progress, MSG_DONTWAIT);
    if (got.size < 0 && errno == EAGAIN) return false;
    if (got.size != sizeof progress) throw std::system_error(ECHILD, std::generic_category(), "a helper ended");
    progress.what[sizeof progress.what - 1] = 0;
    if (progress.code != 0) throw std::system_error(progress.code, std::generic_category(), progress.what);
    if (progress.process != 0) {
      process_ = progress.process;
    } else {
      process_ = got.sender;  // 0: it has ended
      progress_.reset();
      return true;
    }
  }
  return false;
}

InitProcess::Namespaces InitProcess::namespaces() const {
  return {open_namespace(process_, "user"), open_namespace(process_, "mnt"), open_namespace(process_, "pid")};
}

Folder InitProcess::home() const {
  const std::string home = fmt::format("/proc/{}/root{}", process_, kHome);
  return Folder(Descriptor(checked(open(home.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "opening " + home)));
}

}  // namespace agon::sandbox::launcher
