#include "sandbox/launcher/first_process.h"

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
#include <optional>

#include "sandbox/launcher/capabilities.h"
#include "sandbox/launcher/copy_folder.h"
#include "sandbox/launcher/home_folder.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"

namespace agon::sandbox::launcher {
namespace {

// How making one went, from the process itself or from a helper on the way to it.
struct Outcome {
  int code = 0;  // errno, 0: it went well
  char what[240] = {};
};

void tell(int socket, const Outcome& outcome) {
  if (send(socket, &outcome, sizeof outcome, MSG_NOSIGNAL) != sizeof outcome) _exit(2);
}

Outcome failure(const std::system_error& error) {
  Outcome outcome;
  outcome.code = error.code().value();
  std::strncpy(outcome.what, error.what(), sizeof outcome.what - 1);
  return outcome;
}

pid_t clone_with(unsigned long flags) {
  return static_cast<pid_t>(
      checked(syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr), "new namespaces"));
}

void mount_home(const Limits& limits, bool copy) {
  const Descriptor before(checked(open(kHome, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening the home"));
  const std::string options =
      fmt::format("mode=0755,size={},nr_inodes={}", limits.disk, limits.inodes + std::ssize(kHomeFolders) + 1);
  checked(mount("home", kHome, "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()), "mounting the home");
  const Descriptor home(checked(open(kHome, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "opening the home"));
  if (copy) return copy_folder(before.get(), home.get());
  for (const char* name : kHomeFolders) checked(mkdirat(home.get(), name, 0700), "making a folder");
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

[[noreturn]] void reap(int reports) {
  while (true) {
    Report report{};
    report.process = waitpid(-1, &report.status, __WALL);
    if (report.process > 0) {
      if (send(reports, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        _exit(0);  // the supervisor is gone
    } else if (errno == ECHILD) {
      siginfo_t ignored;
      sigset_t child;
      sigemptyset(&child);
      sigaddset(&child, SIGCHLD);
      sigwaitinfo(&child, &ignored);
    }
  }
}

[[noreturn]] void be_first(int reports, const Limits& limits, bool copy) {
  try {
    checked(prctl(PR_SET_DUMPABLE, 1), "prctl");  // so that /proc/self is its own
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    prctl(PR_SET_NAME, "agon-first");
    settle_in(limits, copy);
    tell(reports, {});
    char seen = 0;
    if (recv(reports, &seen, 1, 0) != 1) _exit(0);
    checked(prctl(PR_SET_DUMPABLE, 0), "prctl");  // and nobody else's
  } catch (const std::system_error& error) {
    tell(reports, failure(error));
    _exit(1);
  }
  // Nothing of the supervisor's stays open in here.
  const int low = checked(dup3(reports, 0, 0), "dup3");
  syscall(SYS_close_range, 1, ~0u, 0);
  reap(low);
}

void enter(const FirstProcess& parent) {
  for (const Descriptor* space : {&parent.users, &parent.mounts, &parent.pids})
    checked(setns(space->get(), 0), "entering the namespaces");
}

// The process that says all went well, as this one sees it.
pid_t take(int socket) {
  Outcome outcome;
  const Received got = receive_message(socket, &outcome, sizeof outcome);
  if (got.size != sizeof outcome) throw std::system_error(EIO, std::generic_category(), "a helper ended");
  outcome.what[sizeof outcome.what - 1] = 0;
  if (outcome.code != 0) throw std::system_error(outcome.code, std::generic_category(), outcome.what);
  return got.sender;
}

Descriptor open_namespace(pid_t process, const char* name) {
  const std::string path = fmt::format("/proc/{}/ns/{}", process, name);
  return Descriptor(checked(open(path.c_str(), O_RDONLY | O_CLOEXEC), "opening " + path));
}

// A process that goes where there is no way back from: runs `work` in a child, and waits for its end.
template <typename Work>
void in_child(int reports, Work work) {
  const pid_t child = checked(fork(), "fork");
  if (child != 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return;
  }
  try {
    work();
  } catch (const std::system_error& error) {
    tell(reports, failure(error));
  }
  _exit(0);
}

constexpr unsigned long kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;

}  // namespace

FirstProcess make_first_process(const FirstProcess* parent, const Limits& limits) {
  FirstProcess first;
  SocketPair reports = make_socket_pair(SOCK_SEQPACKET);
  const auto make = [&] {
    if (clone_with(kNamespaces) == 0) be_first(reports.theirs.get(), limits, parent != nullptr);
  };
  if (!parent) {
    make();
  } else {
    in_child(reports.theirs.get(), [&] {
      enter(*parent);
      in_child(reports.theirs.get(), make);  // only a child is in the pid namespace
    });
  }
  reports.theirs.reset();
  first.process = take(reports.ours.get());
  first.reports = std::move(reports.ours);
  first.users = open_namespace(first.process, "user");
  first.mounts = open_namespace(first.process, "mnt");
  first.pids = open_namespace(first.process, "pid");
  const std::string home = fmt::format("/proc/{}/root{}", first.process, kHome);
  first.home = Descriptor(checked(open(home.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "opening " + home));
  checked(send(first.reports.get(), "", 1, MSG_NOSIGNAL), "starting the first process");
  return first;
}

}  // namespace agon::sandbox::launcher
