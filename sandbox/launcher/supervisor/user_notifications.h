// sandbox/launcher/supervisor/user_notifications.h - decides on system calls that the filter passes to the supervisor,
// since who asks and for what matters, not the number alone: setns, setsid, file locks, signals, Landlock.
//
// setns: the process that goes into a new session, until that is ready. setsid: what GuestSession::may_lead grants goes
// on, and others wait until it does. Locks: on files of the session's own workspace; a flock is taken here, on a copy
// of the descriptor that was looked at. Where all see the same processes and files: signals to the session's own,
// Landlock to an interpreter that is not ready yet, and modes and times of the session's own files, which are set here.
// Whatever else asks gets EPERM.
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
  // FindSession: the first session for which `is_meant` is true. SessionOf: the session of that number. Both may be
  // null.
  using FindSession = std::function<GuestSession*(const std::function<bool(GuestSession&)>& is_meant)>;
  using SessionOf = std::function<GuestSession*(int session)>;
  // notifications: of the filter (seccomp_unotify); like the walls, it outlives this.
  Questions(const Descriptor& notifications, const Walls& walls, FindSession find, SessionOf session)
      : notifications_(notifications), walls_(walls), find_(std::move(find)), session_(std::move(session)) {}

  void answer_next();  // the one that waits; a flock that has to wait is kept
  bool has_waiting_locks() const { return !waiting_locks_.empty(); }
  bool has_waiting_leaders() const { return !waiting_leaders_.empty(); }
  bool has_waiting_marks() const { return !waiting_marks_.empty(); }
  void retry();  // those that wait

 private:
  // A wish for a flock that another process holds at the moment.
  struct WaitingLock {
    std::uint64_t question = 0;
    Descriptor file;
    int operation = 0;
  };
  // A wish for a kernel session while there are as many as allowed.
  struct WaitingLeader {
    std::uint64_t question = 0;
    pid_t asker = 0;
  };
  // A mode or a time of a file. Asked for while other threads or processes run: those may hold the lock of the memory
  // that the file's name lies in. Or by a name with symbolic links, which may be a long way. One errand a session is
  // out.
  struct WaitingMark {
    seccomp_notif question{};
    int session = 0;
    Errand errand;
  };
  void answer(std::uint64_t id, int error) const;
  void go_on(std::uint64_t id) const;  // the call itself is made
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
