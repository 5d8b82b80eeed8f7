#include "sandbox/launcher/questions.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "sandbox/launcher/census.h"
#include "sandbox/launcher/processes.h"

namespace agon::sandbox::launcher {
namespace {

// The descriptor itself, so that it stays the one that was looked at; invalid where there is none. `task` may be a
// thread.
Descriptor descriptor_of(pid_t task, int number) {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, std::atoi(status_field(task, "Tgid").c_str()), 0)));
  if (process.get() < 0) return Descriptor();
  return Descriptor(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
}

}  // namespace

void Questions::answer_next() {
  seccomp_notif question{};
  if (ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;  // who asked is gone
  if (question.data.nr == SYS_flock) return on_flock(question);
  if (!allows(question)) return answer(question.id, EPERM);
  seccomp_notif_resp reply{.id = question.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

void Questions::answer(std::uint64_t id, int error) const {
  seccomp_notif_resp reply{.id = id, .error = -error};
  ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

bool Questions::allows(const seccomp_notif& question) const {
  const auto asker = static_cast<pid_t>(question.pid);
  switch (question.data.nr) {
    case SYS_setns: return may_enter(asker);
    case SYS_fcntl: return may_lock(question);
    case SYS_landlock_create_ruleset:
    case SYS_landlock_add_rule:
    case SYS_landlock_restrict_self: return may_confine(asker);
    default: return may_signal(question);
  }
}

bool Questions::may_enter(pid_t asker) const {
  return find_([asker](Session& session) {
    if (session.state() == Session::State::starting) session.on_channel();  // what it said may still lie there
    return session.may_enter(asker);
  });
}

// flock locks what a descriptor has open, so a copy of it does as well.
void Questions::on_flock(const seccomp_notif& question) {
  const auto asker = static_cast<pid_t>(question.pid);
  WaitingLock wish{question.id, descriptor_of(asker, static_cast<int>(question.data.args[0])),
                   static_cast<int>(question.data.args[1])};
  if (wish.file.get() < 0 || !is_of_session(wish.file.get(), asker)) return answer(question.id, EPERM);
  if (!try_lock(wish)) waiting_locks_.push_back(std::move(wish));
}

bool Questions::try_lock(const WaitingLock& wish) const {
  std::uint64_t id = wish.question;
  if (ioctl(notifications_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0) return true;  // who asked is gone
  const bool done = ::flock(wish.file.get(), wish.operation | LOCK_NB) == 0;
  if (!done && errno == EWOULDBLOCK && (wish.operation & LOCK_NB) == 0) return false;
  answer(wish.question, done ? 0 : errno);
  return true;
}

void Questions::retry_locks() {
  std::erase_if(waiting_locks_, [this](const WaitingLock& wish) { return try_lock(wish); });
}

// A lock on a file that other sessions see too would be a way to talk to them, or to stop them. Between this look and
// the lock another thread can put another file in its place: one of the host's, which can be read alone, and so a
// shared lock.
bool Questions::may_lock(const seccomp_notif& question) const {
  const auto asker = static_cast<pid_t>(question.pid);
  const Descriptor file = descriptor_of(asker, static_cast<int>(question.data.args[0]));
  return file.get() >= 0 && is_of_session(file.get(), asker);
}

// Whether a file that is open here lies among the files of the session that `asker` is of.
bool Questions::is_of_session(int file, pid_t asker) const try {
  Session* session = session_(session_of_process(asker));
  if (!session || !session->may_lock()) return false;
  if (!walls_.has_namespaces()) {
    std::error_code gone;
    const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file), gone);
    return path.string().starts_with(session->home_path() + "/");
  }
  struct stat status {}, home {};
  return fstat(file, &status) == 0 && fstat(session->home().get(), &home) == 0 && home.st_dev == status.st_dev;
} catch (const std::system_error&) {
  return false;
}

bool Questions::may_confine(pid_t asker) const {
  const Session* session = session_(session_of_process(asker));
  return session && session->is_confining(asker);
}

// Where all see the same processes: signals go to the session's own. The arguments lie in registers, and a process that
// has been found keeps its number until it is reaped.
bool Questions::may_signal(const seccomp_notif& question) const {
  const int asker = session_of_process(static_cast<pid_t>(question.pid));
  const auto target = static_cast<pid_t>(question.data.args[0]);
  if (asker == 0 || target == -1) return false;
  if (target == 0) return true;  // its own group, which no other session is in
  return session_of_process(target < 0 ? -target : target) == asker;
}

}  // namespace agon::sandbox::launcher
