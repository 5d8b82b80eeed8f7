// sandbox/launcher/supervisor/openings.h - makes sessions: the ones that the host requests, in the order of the
// requests, and a few spare ones in advance.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/isolation/template.h"
#include "sandbox/launcher/session/guest_session.h"
#include "sandbox/launcher/session/surroundings.h"
#include "sandbox/launcher/supervisor/held_sessions.h"
#include "sandbox/launcher/supervisor/host_replies.h"
#include "sandbox/launcher/supervisor/polling.h"
#include "sandbox/limits.h"

namespace agon::sandbox::launcher {

// A request for a session that has not been begun.
struct SessionWish {
  std::int64_t request = -1;
  Limits limits;
  int parent = 0;  // the session to fork; 0: none
  std::uint64_t seed = 0;
  Clock::time_point since;
};

class Openings {
 public:
  static constexpr auto kRetry = std::chrono::milliseconds(20);  // between two attempts of a request that found no room

  // The parts of the supervisor that it works on; all outlive it. unknown_ended: reaped children that may belong
  // to a session that is still being made; the supervisor learns their ids only later.
  struct Parts {
    HeldSessions& sessions;
    Template& source;
    const Walls& walls;
    const Surroundings& surroundings;
    const std::set<pid_t>& unknown_ended;
    Polling& polling;
    HostReplies& replies;
  };
  explicit Openings(const Parts& parts) : parts_(parts) {}

  void open(const SessionWish& wish);
  void grant_wishes();
  bool has_wishes() const { return !wishes_.empty(); }
  void keep_spares();
  void on_spare_failed(const Limits& limits);
  // Continues making a session whose progress() can be read.
  void progress(HeldSession& one);
  // source: the session that was asked for forks; 0: the template.
  void on_fork_answers(int source, const std::vector<std::string>& answers);
  void forget(int id) { forking_.erase(id); }

 private:
  bool grant(const SessionWish& wish);
  int make(const Limits& limits, GuestSession* parent);
  void fork_interpreter(HeldSession& one);
  bool drop_spare();

  Parts parts_;
  std::map<int, std::deque<int>> forking_;  // by source (0: the template): the sessions requested from it, in order
  std::deque<SessionWish> wishes_;
  Clock::time_point next_wish_;
  int last_ = 0;
  std::optional<Limits> spare_limits_;  // the limits of the last session that was opened
};

}  // namespace agon::sandbox::launcher
