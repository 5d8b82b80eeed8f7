#include "sandbox/launcher/supervisor/user_notifications.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sandbox/launcher/supervisor/census.h"
#include "sandbox/launcher/supervisor/processes.h"

namespace agon::sandbox::launcher {
namespace {

// A duplicate of the asker's descriptor, so that later steps use the one that was checked; invalid if there is none.
// `task` may be a thread.
Descriptor descriptor_of(pid_t task, int number) {
  const Descriptor process(
      static_cast<int>(syscall(SYS_pidfd_open, std::atoi(ProcessStatus(task).field("Tgid").c_str()), 0)));
  if (process.get() < 0) return Descriptor();
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
}

#ifdef SYS_chmod
constexpr int kChmod = SYS_chmod;
#else
constexpr int kChmod = -1;  // aarch64 has only fchmodat
#endif

bool is_mark(int call) { return call == kChmod || call == SYS_fchmod || call == SYS_fchmodat || call == SYS_utimensat; }

// The memory of the asker at an address, at most `size` bytes.
std::string memory_of(pid_t asker, std::uint64_t address, std::size_t size) {
  const Descriptor memory(open(fmt::format("/proc/{}/mem", asker).c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(size, '\0');
  ssize_t got = pread(memory.get(), bytes.data(), size, static_cast<off_t>(address));
  // A read must not run past the end of the last mapping.
  constexpr std::uint64_t kPageSize = 4096;
  if (got < 0)
    got =
        pread(memory.get(), bytes.data(), std::min(size, kPageSize - address % kPageSize), static_cast<off_t>(address));
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

// The file that the asker names by a folder's descriptor (AT_FDCWD: its working folder) and a path in its memory;
// without a path, the descriptor itself. resolve: additional RESOLVE_ flags of openat2. Leaves errno.
Descriptor file_of(pid_t asker, int folder, std::uint64_t path_address, bool follows, std::uint64_t resolve) {
  Descriptor from = folder == AT_FDCWD
                        ? Descriptor(open(fmt::format("/proc/{}/cwd", asker).c_str(), O_PATH | O_CLOEXEC))
                        : descriptor_of(asker, folder);
  if (from.get() < 0 || path_address == 0) return from;
  std::string path = memory_of(asker, path_address, 4096);
  const std::size_t end = path.find('\0');
  if (end == std::string::npos || end == 0) return Descriptor();
  path.resize(end);
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | (follows ? 0u : static_cast<unsigned>(O_NOFOLLOW));
  how.resolve = RESOLVE_NO_MAGICLINKS | resolve;  // /proc/self would mean this process
  return Descriptor(static_cast<int>(syscall(SYS_openat2, from.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace

void Questions::answer_next() {
  seccomp_notif question{};
  if (ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;  // the asker has ended
  if (question.data.nr == SYS_flock) return on_flock(question);
  if (question.data.nr == SYS_setsid) return on_setsid(question);
  if (question.data.nr == SYS_epoll_ctl) return on_watch(question);
  if (is_mark(question.data.nr)) return on_mark(question);
  allows(question) ? go_on(question.id) : answer(question.id, EPERM);
}

void Questions::go_on(std::uint64_t id) const {
  seccomp_notif_resp reply{.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

bool Questions::is_waiting(std::uint64_t id) const {
  return ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void Questions::answer(std::uint64_t id, int error) const {
  seccomp_notif_resp reply{.id = id, .error = -error};
  ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

bool Questions::allows(const seccomp_notif& question) const {
  const auto asker = static_cast<pid_t>(question.pid);
  switch (question.data.nr) {
    case SYS_setns:
      return may_enter(asker);
    case SYS_fcntl:
      return may_lock(question);
    case SYS_landlock_create_ruleset:
    case SYS_landlock_add_rule:
    case SYS_landlock_restrict_self:
      return may_confine(asker);
    default:
      return may_signal(question);
  }
}

void Questions::on_watch(const seccomp_notif& question) const {
  GuestSession* session = session_(session_of_process(static_cast<pid_t>(question.pid)));
  session && session->may_watch() ? go_on(question.id) : answer(question.id, ENOSPC);
}

bool Questions::may_enter(pid_t asker) const {
  return find_([asker](GuestSession& session) {
    if (session.state() == GuestSession::State::starting) session.on_channel();  // its message may still be unread
    return session.may_enter(asker);
  });
}

void Questions::on_setsid(const seccomp_notif& question) {
  const WaitingLeader wish{question.id, static_cast<pid_t>(question.pid)};
  if (!try_lead(wish)) waiting_leaders_.push_back(wish);
}

bool Questions::try_lead(const WaitingLeader& wish) const {
  if (!is_waiting(wish.question)) return true;
  GuestSession* session = session_(session_of_process(wish.asker));
  if (session && !session->may_lead(wish.asker)) return false;
  session ? go_on(wish.question) : answer(wish.question, EPERM);
  return true;
}

// flock locks the open file, so locking a copy of the descriptor has the same effect.
void Questions::on_flock(const seccomp_notif& question) {
  const auto asker = static_cast<pid_t>(question.pid);
  WaitingLock wish{question.id, descriptor_of(asker, static_cast<int>(question.data.args[0])),
                   static_cast<int>(question.data.args[1])};
  if (wish.file.get() < 0 || !may_lock(wish.file.get(), asker)) return answer(question.id, EPERM);
  if (!try_lock(wish)) waiting_locks_.push_back(std::move(wish));
}

bool Questions::try_lock(const WaitingLock& wish) const {
  if (!is_waiting(wish.question)) return true;  // the asker has ended
  const bool done = ::flock(wish.file.get(), wish.operation | LOCK_NB) == 0;
  if (!done && errno == EWOULDBLOCK && (wish.operation & LOCK_NB) == 0) return false;
  answer(wish.question, done ? 0 : errno);
  return true;
}

void Questions::retry() {
  std::erase_if(waiting_locks_, [this](const WaitingLock& wish) { return try_lock(wish); });
  std::erase_if(waiting_leaders_, [this](const WaitingLeader& wish) { return try_lead(wish); });
  std::erase_if(waiting_marks_, [this](WaitingMark& wish) { return try_mark(wish); });
}

// A lock on a file that other sessions see would let a session talk to them, or stop them. Between this check and the
// lock, another thread can put another file in its place. That can only be a file of the host, which is read-only and
// so allows only a shared lock.
bool Questions::may_lock(const seccomp_notif& question) const {
  const auto asker = static_cast<pid_t>(question.pid);
  const Descriptor file = descriptor_of(asker, static_cast<int>(question.data.args[0]));
  return file.get() >= 0 && may_lock(file.get(), asker);
}

bool Questions::may_lock(int file, pid_t asker) const {
  GuestSession* session = session_(session_of_process(asker));
  return session && session->may_lock() && is_of_session(file, *session);
}

// Whether an open file belongs to the session's files.
bool Questions::is_of_session(int file, const GuestSession& session) const try {
  if (!walls_.has_namespaces()) {
    std::error_code gone;
    const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file), gone);
    return path.string().starts_with(session.home_path() + "/");
  }
  struct stat status {
  }, home{};
  return fstat(file, &status) == 0 && fstat(session.home().get(), &home) == 0 && home.st_dev == status.st_dev;
} catch (const std::system_error&) {
  return false;
}

void Questions::on_mark(const seccomp_notif& question) {
  const auto asker = static_cast<pid_t>(question.pid);
  const int owner = session_of_process(asker);
  const GuestSession* session = session_(owner);
  if (!session) return answer(question.id, EPERM);
  const bool alone = session->runs_nothing_but(asker) && ProcessStatus(asker).field("Threads") == "1";
  const int error = alone ? set_mark(question, *session, RESOLVE_NO_SYMLINKS) : ELOOP;
  if (error != ELOOP) return answer(question.id, error);
  waiting_marks_.push_back({question, owner, {}});
}

bool Questions::try_mark(WaitingMark& wish) try {
  if (!is_waiting(wish.question.id)) return true;
  if (const auto outcome = wish.errand.take()) {
    answer(wish.question.id, outcome->error != 0 ? EIO : static_cast<int>(outcome->values[0]));
    return true;
  }
  const bool one_is_out = std::ranges::any_of(
      waiting_marks_, [&](const WaitingMark& other) { return other.session == wish.session && other.errand.is_out(); });
  const GuestSession* session = session_(wish.session);
  if (!session) return answer(wish.question.id, EPERM), true;
  if (!one_is_out) wish.errand = Errand::start([&] { return Errand::Values{set_mark(wish.question, *session, 0)}; });
  return false;
} catch (const std::system_error&) {  // an errand cannot be started
  answer(wish.question.id, EAGAIN);
  return true;
}

// Finds the file that the asker names, then checks and changes it through one descriptor. Returns errno, or 0. Also
// runs in an errand, which cannot use marks of processes (census.h): they name the supervisor.
int Questions::set_mark(const seccomp_notif& question, const GuestSession& session, std::uint64_t resolve) const {
  const auto asker = static_cast<pid_t>(question.pid);
  const auto& arguments = question.data.args;
  const int call = question.data.nr;
  const bool takes_folder = call == SYS_fchmodat || call == SYS_utimensat;
  const bool is_of_link = call == SYS_utimensat && (arguments[3] & AT_SYMLINK_NOFOLLOW) != 0;
  const int folder = call == kChmod ? AT_FDCWD : static_cast<int>(arguments[0]);
  const std::uint64_t path = takes_folder ? arguments[1] : call == kChmod ? arguments[0] : 0;
  const Descriptor file = file_of(asker, folder, path, !is_of_link, resolve);
  if (file.get() < 0) return errno == ELOOP ? ELOOP : ENOENT;
  if (!is_of_session(file.get(), session)) return EPERM;
  const std::string way = fmt::format("/proc/self/fd/{}", file.get());
  if (call != SYS_utimensat) {
    const auto mode = static_cast<mode_t>(arguments[call == SYS_fchmodat ? 2 : 1]) & 01777;
    return chmod(way.c_str(), mode) == 0 ? 0 : errno;
  }
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  if (arguments[2] != 0) {
    const std::string bytes = memory_of(asker, arguments[2], sizeof times);
    if (bytes.size() != sizeof times) return EFAULT;
    std::memcpy(times, bytes.data(), sizeof times);
  }
  return utimensat(AT_FDCWD, way.c_str(), times, 0) == 0 ? 0 : errno;
}

bool Questions::may_confine(pid_t asker) const {
  const GuestSession* session = session_(session_of_process(asker));
  return session && session->is_confining(asker);
}

// If all sessions see the same processes: signals only to the session's own. The arguments are in registers, and a
// process that was found keeps its number until it is reaped.
bool Questions::may_signal(const seccomp_notif& question) const {
  const int asker = session_of_process(static_cast<pid_t>(question.pid));
  const auto target = static_cast<pid_t>(question.data.args[0]);
  // Queued signals count against everything that the user runs, and stay while they are blocked.
  const auto number = static_cast<int>(question.data.args[question.data.nr == SYS_tgkill ? 2 : 1]);
  if (asker == 0 || target == -1 || number >= SIGRTMIN) return false;
  if (target == 0) return true;  // its own process group, which is never shared with another session
  return session_of_process(target < 0 ? -target : target) == asker;
}

}  // namespace agon::sandbox::launcher
