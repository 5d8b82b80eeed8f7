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
  if (question.data.nr == SYS_setns) return may_enter(static_cast<pid_t>(question.pid));
  return question.data.nr == SYS_fcntl ? may_lock(question) : may_signal(question);
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

// Whether a file that is open here lies in the workspace of the session that `asker` is of.
bool Questions::is_of_session(int file, pid_t asker) const {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  if (!walls_.has_namespaces()) {
    const Session* session = session_of(asker);
    std::error_code gone;
    const auto path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file), gone);
    return session && path.string().starts_with(session->home_path() + "/");
  }
  return find_([&status](const Session& session) {
    struct stat home {};
    return fstat(session.home().get(), &home) == 0 && home.st_dev == status.st_dev;
  });
}

// The session that a process or thread descends from; null where it is none's.
const Session* Questions::session_of(pid_t task) const {
  const int process = std::atoi(status_field(task, "Tgid").c_str());
  for (pid_t at = process; at > 1 && at != getpid(); at = parent_of(at))
    if (const Session* session = find_([at](const Session& one) { return one.owns(at); })) return session;
  return nullptr;
}

// Where all see the same processes: signals go to the session's own. The arguments lie in registers, and a process that
// has been found keeps its number until it is reaped.
bool Questions::may_signal(const seccomp_notif& question) const {
  const Session* asker = session_of(static_cast<pid_t>(question.pid));
  const auto target = static_cast<pid_t>(question.data.args[0]);
  if (!asker || target == -1) return false;
  if (target == 0) return true;  // its own group, which no other session is in
  return session_of(target < 0 ? -target : target) == asker;
}

}  // namespace agon::sandbox::launcher
