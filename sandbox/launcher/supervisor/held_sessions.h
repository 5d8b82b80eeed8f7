// sandbox/launcher/supervisor/held_sessions.h - the sessions of a supervisor by their numbers, each with the requests
// of the host that wait for it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "sandbox/launcher/session/folder.h"
#include "sandbox/launcher/session/guest_session.h"

namespace agon::sandbox::launcher {

struct HeldSession {
  std::unique_ptr<GuestSession> session;
  std::int64_t opening = -1, running = -1, writing = -1, closing = -1;  // ids of requests that wait for an answer
  std::uint64_t seed = 0;
  Clock::time_point since;
  bool killed = false, forgotten = false;
  bool spare = false;  // nobody has asked for it yet
};

using HeldSessions = std::map<int, HeldSession>;

// Null if there is no such session.
GuestSession* session_in(HeldSessions& sessions, int id);
GuestSession* first_session(HeldSessions& sessions, const std::function<bool(GuestSession&)>& is_meant);

bool has_forks(const HeldSessions& sessions, int id);
int living(const HeldSessions& sessions);  // number of sessions that live
// The folders of all living sessions, if sessions share a file system.
std::vector<Folder::Identity> folders_of(const HeldSessions& sessions);

}  // namespace agon::sandbox::launcher
