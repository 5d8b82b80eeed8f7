#include "sandbox/launcher/isolation/isolation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/text.h"
#include "sandbox/launcher/isolation/cgroup.h"
#include "sandbox/launcher/isolation/landlock.h"
#include "sandbox/launcher/isolation/private_root.h"
#include "sandbox/launcher/session/folder.h"
#include "sandbox/launcher/session/init_process.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kAgent = 1000;  // user id of the sandbox's user inside
constexpr const char* kFolders = "/tmp/agon-sandbox-";

// Whether this user namespace knows the host's user `id`.
bool is_mapped(unsigned long id) {
  std::istringstream map(read_small_file(AT_FDCWD, "/proc/self/uid_map").value_or(""));
  unsigned long inside = 0, outside = 0, count = 0;
  while (map >> inside >> outside >> count)
    if (id >= inside && id - inside < count) return true;
  return false;
}

struct User {
  uid_t user = 0;
  gid_t group = 0;
};

// As root, an otherwise unused user, so that guests never run as root; else this process's own user.
User outer_user() {
  if (geteuid() != 0) return {geteuid(), getegid()};
  for (const uid_t id : {1'879'048'193u, 65'534u})
    if (is_mapped(id)) return {id, id};
  throw Error(
      "root has no other user to lend to the sandbox: this container maps neither 1879048193 nor 65534. Run as an "
      "ordinary user");
}

void become(uid_t user, gid_t group) {
  if (geteuid() == user && getegid() == group) return;
  checked(syscall(SYS_setresgid, group, group, group), "setresgid");
  checked(syscall(SYS_setresuid, user, user, user), "setresuid");
}

// Makes the kernel send this process `signal` when its parent ends, which holds the other end of `parent` open. Call it
// after a change of user, which cancels the request.
void end_with(const Descriptor& parent, int signal) {
  checked(prctl(PR_SET_PDEATHSIG, signal), "prctl");
  pollfd closed{parent.get(), POLLIN, 0};
  if (poll(&closed, 1, 0) != 0) _exit(1);  // it has already ended
}

void enter_namespaces_root(const std::vector<std::string>& readable, const Descriptor& parent) {
  checked(prctl(PR_SET_KEEPCAPS, 1), "prctl");
  become(kAgent, kAgent);
  end_with(parent, SIGKILL);
  enter_private_root(readable);
}

void map_user(pid_t process, const User& user) {
  const std::string folder = fmt::format("/proc/{}/", process);
  write_small_file(AT_FDCWD, folder + "setgroups", "deny");
  write_small_file(AT_FDCWD, folder + "uid_map", fmt::format("{} {} 1", kAgent, user.user));
  write_small_file(AT_FDCWD, folder + "gid_map", fmt::format("{} {} 1", kAgent, user.group));
}

pid_t clone_into_namespaces() {
  const unsigned long flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
  const long child = syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
  if (child < 0)
    throw Error(
        "this machine refuses to create namespaces: {}. See user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or the container's seccomp "
        "profile",
        std::strerror(errno));
  return static_cast<pid_t>(child);
}

// Runs work as the sandbox's user, in a child, so that root's rights never affect what guests own.
void as_outer_user(const std::function<void()>& work) {
  const pid_t child = checked(fork(), "fork");
  if (child == 0) {
    try {
      become_outer_user();
      work();
    } catch (const std::exception&) {  // what fails is skipped
    }
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Removes a folder in /tmp with its contents. Others may put another folder in its place, so names are not trusted.
void remove_folder(const std::string& path) {
  try {
    Folder::at(path).empty();
  } catch (const std::system_error&) {  // it no longer exists
  }
  rmdir(path.c_str());
}

constexpr unsigned kMostSweep = 10;  // seconds

// The folder of all sessions' files if they have no mount namespaces. Locked while its launcher lives.
class PrivateFolder {
 public:
  explicit PrivateFolder(const User& owner) {
    as_outer_user([&owner] {
      alarm(kMostSweep);  // ends this child: a folder that a survivor still fills is left for the next sweep
      sweep(owner);
    });
    path_ = std::string(kFolders) + "XXXXXX";
    if (!mkdtemp(path_.data())) throw Error("no folder {} can be made: {}", path_, std::strerror(errno));
    lock_ = FileLock(Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
    if (!lock_ || !lock_.lock() || fchown(lock_.descriptor(), owner.user, owner.group) != 0)
      throw Error("the folder {} cannot be prepared: {}", path_, std::strerror(errno));
  }
  ~PrivateFolder() {
    as_outer_user([this] { remove_folder(path_); });
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  // Removes the folders of this user's launchers that were killed.
  static void sweep(const User& owner) {
    const fs::path folders(kFolders);
    Folder::at(folders.parent_path()).for_each([&](const char* name) {
      if (!std::string_view(name).starts_with(folders.filename().c_str())) return;
      const fs::path path = folders.parent_path() / name;
      FileLock folder(Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
      struct stat status {};
      if (!folder || fstat(folder.descriptor(), &status) != 0 || status.st_uid != owner.user) return;
      if (::time(nullptr) - status.st_mtime < 60) return;  // it may be about to be locked
      if (folder.try_lock()) remove_folder(path);
    });
  }
  std::string path_;
  FileLock lock_;
};

// A session takes three descriptors of the supervisor and two processes, and a few more while it is made.
constexpr rlim_t kOwnDescriptors = 96, kDescriptorsOfSession = 3, kProcessesOfSession = 2;

// Raises this process's limit of descriptors to the hard limit. Throws Error if that is too low.
void raise_descriptors() {
  rlimit limit{};
  checked(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  const rlim_t least = kOwnDescriptors + 4 * kDescriptorsOfSession;
  if (limit.rlim_max < least)
    throw Error("a process may have {} descriptors here (ulimit -Hn), and the sandbox needs {} at least",
                limit.rlim_max, least);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 1 << 20);
  checked(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

int room_for_sessions() {
  rlimit descriptors{}, processes{};
  checked(getrlimit(RLIMIT_NOFILE, &descriptors), "getrlimit");
  checked(getrlimit(RLIMIT_NPROC, &processes), "getrlimit");
  const rlim_t by_descriptors = (descriptors.rlim_cur - kOwnDescriptors) / kDescriptorsOfSession;
  const rlim_t by_processes = std::max<rlim_t>(processes.rlim_cur / kProcessesOfSession, 2) - 1;
  constexpr rlim_t kNumbers = 15'000;  // two process numbers per session, of the 32,768 in a pid namespace
  return static_cast<int>(std::min({by_descriptors, by_processes, kNumbers}));
}

// One attempt to run in a tier, from building it to its end.
class Attempt {
 public:
  Attempt(Tier tier, const WantedTiers& wanted) : wanted_(wanted), user_(outer_user()) {
    walls_.tier = tier;
    raise_descriptors();
    walls_.room = room_for_sessions();
    if (landlock_version() == 0) throw Error("this kernel has no Landlock, which every tier needs");
    if (tier == Tier::a) cgroup_.emplace(user_.user, user_.group);
    if (tier == Tier::c) prepare_shared();
  }

  // Throws Error if the isolation cannot be built; otherwise returns when the work inside has ended.
  void run(const Work& work, const std::function<void()>& on_started, const std::vector<MissedTier>& missed) {
    Pipe mapped = make_pipe(), report = make_pipe();
    const bool clones = walls_.has_namespaces() && !wanted_.contained;
    const pid_t child = clones ? clone_into_namespaces() : checked(fork(), "fork");
    if (child == 0) {
      mapped.writing.reset();
      report.reading.reset();
      be_inside(mapped.reading, std::move(report.writing), work, missed);
    }
    report.writing.reset();
    std::string why = begin(child, clones, mapped);
    if (why.empty()) why = read_all(report.reading.get());
    if (why.empty()) on_started();
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (walls_.tier == Tier::c) end_descendants();
    if (!why.empty()) throw Error("{}", why);
  }

 private:
  void prepare_shared() {
    const std::string scope = read_small_file(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope").value_or("0");
    if (std::atoi(scope.c_str()) >= 2)
      throw Error("kernel.yama.ptrace_scope is {}: the supervisor could not look at its own children", trim(scope));
    if (!wanted_.contained && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw Error("no child subreaper");
    folder_.emplace(user_);
    walls_.folder = folder_->path();
    walls_.readable = program_folders(wanted_.readable);
  }

  // Returns what failed; empty if the child is starting.
  std::string begin(pid_t child, bool clones, const Pipe& mapped) {
    try {
      if (clones) map_user(child, user_);
      if (cgroup_) cgroup_->add_supervisor(child);
      checked(write(mapped.writing.get(), "1", 1), "starting");
      return {};
    } catch (const std::system_error& error) {
      ::kill(child, SIGKILL);
      return error.what();
    }
  }

  [[noreturn]] void be_inside(const Descriptor& parent, Descriptor report, const Work& work,
                              const std::vector<MissedTier>& missed) {
    try {
      char byte = 0;
      if (read(parent.get(), &byte, 1) != 1) _exit(1);
      if (walls_.has_namespaces() && !wanted_.contained)
        enter_namespaces_root(wanted_.readable, parent);
      else
        become_shared(parent);
      if (walls_.has_namespaces() && wanted_.contained) try_session();
      if (cgroup_) walls_.cgroups = cgroup_->folder();
      checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
      report.reset();
    } catch (const std::exception& error) {
      const std::string_view text = error.what();
      if (write(report.get(), text.data(), text.size()) < 0) _exit(2);
      _exit(1);
    }
    work(walls_, missed);
    if (walls_.tier == Tier::c) {
      end_descendants();
      remove_folder(walls_.folder);  // here too, in case the launcher itself was killed
    }
    _exit(0);
  }

  // Without namespaces, orphans of sessions become children of this process, which ends them. So a parent's end must
  // not simply kill this process.
  void become_shared(const Descriptor& parent) const {
    become_outer_user();
    checked(prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    checked(prctl(PR_SET_DUMPABLE, 1), "prctl");  // so that it owns its /proc/self
    end_with(parent, SIGTERM);
  }

  // Whether each session can have namespaces of its own in here.
  static void try_session() {
    const SocketPair reports = make_socket_pair(SOCK_SEQPACKET);
    InitProcess init = InitProcess::start(nullptr, {}, reports.theirs);
    const pid_t process = init.process();
    pollfd waits{init.progress(), POLLIN, 0};
    poll(&waits, 1, 20'000);
    std::string why;
    try {
      if (!init.advance()) why = "a session's namespaces are not made within 20 s";
    } catch (const std::system_error& error) {
      why = error.what();
    }
    ::kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    init.on_reaped();
    if (!why.empty()) throw Error("{}", why);
  }

  const WantedTiers& wanted_;
  User user_;
  Walls walls_;
  std::optional<SandboxCgroup> cgroup_;
  std::optional<PrivateFolder> folder_;
};

std::string text_of(const std::vector<MissedTier>& missed, const WantedTiers& wanted) {
  std::string text = fmt::format("no tier down to {} is available here.", to_string(wanted.floor));
  for (const MissedTier& one : missed) text += fmt::format(" Tier {}: {}.", to_string(one.tier), one.why);
  if (wanted.floor == Tier::b) text += " Tier C, without namespaces, is not tried unless the floor is C";
  if (wanted.floor == Tier::a) text += " Tier B, without cgroups, is not tried unless the floor is B";
  return text + " (--floor; docs/sandbox.md says what each tier keeps)";
}

}  // namespace

void become_outer_user() {
  const User user = outer_user();
  if (geteuid() == 0) checked(setgroups(0, nullptr), "setgroups");
  become(user.user, user.group);
}

void run_behind_walls(const WantedTiers& wanted, const Work& work, const std::function<void()>& on_started) {
  std::vector<MissedTier> missed;
  for (const Tier tier : {Tier::a, Tier::b, Tier::c}) {
    if (weaker(wanted.best, tier) || weaker(tier, wanted.floor)) continue;
    if (tier == Tier::a && wanted.contained) {
      missed.push_back({tier, "the launcher runs in bwrap or a container, which delegates no cgroup"});
      continue;
    }
    try {
      Attempt(tier, wanted).run(work, on_started, missed);
      return;
    } catch (const std::exception& error) {
      missed.push_back({tier, error.what()});
    }
  }
  throw Error("{}", text_of(missed, wanted));
}

}  // namespace agon::sandbox::launcher
