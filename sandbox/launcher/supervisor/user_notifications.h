// sandbox/launcher/supervisor/user_notifications.h - decides on the system calls that the filter passes to the
// supervisor because the answer depends on the caller and the target, not on the number alone.
//
// Allowed are setns for the process that enters a new session, until that session is ready; setsid if
// GuestSession::may_lead allows it (others wait until it does); locks on files of the session, where a flock is taken
// here, on a copy of the descriptor that was checked; and new epoll watches up to the session's limit (else ENOSPC).
//
// If all sessions see the same processes and files, it also allows signals to the session's own processes, Landlock for
// an interpreter that is not ready yet, and changes of modes and times of the session's own files, which are made here.
// Everything else gets EPERM.
#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/session/guest_session.h"
#include "sandbox/launcher/supervisor/errand.h"

namespace agon::sandbox::launcher {

class Questions {
 public:
  // FindSession returns the first session for which `is_meant` is true, SessionOf the session of that number; null if
  // there is none.
  using FindSession = std::function<GuestSession*(const std::function<bool(GuestSession&)>& is_meant)>;
  using SessionOf = std::function<GuestSession*(int session)>;
  // notifications: of the filter (seccomp_unotify). It and the walls outlive this.
  Questions(const Descriptor& notifications, const Walls& walls, FindSession find, SessionOf session)
      : notifications_(notifications), walls_(walls), find_(std::move(find)), session_(std::move(session)) {}

  void answer_next();  // answers the next question; a call that has to wait is kept
  bool has_waiting_locks() const { return !waiting_locks_.empty(); }
  bool has_waiting_leaders() const { return !waiting_leaders_.empty(); }
  bool has_waiting_marks() const { return !waiting_marks_.empty(); }
  void retry();  // tries the waiting ones again

 private:
  // A request for a flock that another process holds at the moment.
  struct WaitingLock {
    std::uint64_t question = 0;
    Descriptor file;
    int operation = 0;
  };
  // A request for a kernel session while the session has as many as allowed.
  struct WaitingLeader {
    std::uint64_t question = 0;
    pid_t asker = 0;
  };
  // A request to change the mode or times of a file that an errand handles. Either other threads or processes of the
  // session run, which may hold the lock of the memory that holds the file's name; or the name has symbolic links,
  // which may take long to follow. A session has one such errand at a time.
  struct WaitingMark {
    seccomp_notif question{};
    int session = 0;
    Errand errand;
  };
  void answer(std::uint64_t id, int error) const;
  void go_on(std::uint64_t id) const;  // lets the kernel make the call
  bool is_waiting(std::uint64_t id) const;
  bool allows(const seccomp_notif& question) const;
  bool may_enter(pid_t asker) const;
  bool may_lock(const seccomp_notif& question) const;
  bool may_signal(const seccomp_notif& question) const;
  bool may_confine(pid_t asker) const;
  void on_flock(const seccomp_notif& question);
  void on_setsid(const seccomp_notif& question);
  void on_watch(const seccomp_notif& question) const;
  void on_mark(const seccomp_notif& question);
  bool try_mark(WaitingMark& wish);
  int set_mark(const seccomp_notif& question, const GuestSession& session, std::uint64_t resolve) const;
  bool try_lock(const WaitingLock& wish) const;    // false: it has to wait
  bool try_lead(const WaitingLeader& wish) const;  // likewise
  bool may_lock(int file, pid_t asker) const;
  bool is_of_session(int file, const GuestSession& session) const;

  const Descriptor& notifications_;
  const Walls& walls_;
  FindSession find_;
  SessionOf session_;
  std::vector<WaitingLock> waiting_locks_;
  std::vector<WaitingLeader> waiting_leaders_;
  std::vector<WaitingMark> waiting_marks_;
};

}  // namespace agon::sandbox::launcher
