#include "sandbox/launcher/supervisor/held_sessions.h"

#include <algorithm>

namespace agon::sandbox::launcher {

GuestSession* session_in(HeldSessions& sessions, int id) {
  const auto found = sessions.find(id);
  return found == sessions.end() ? nullptr : found->second.session.get();
}

GuestSession* first_session(HeldSessions& sessions, const std::function<bool(GuestSession&)>& is_meant) {
  for (auto& [id, held] : sessions)
    if (is_meant(*held.session)) return held.session.get();
  return nullptr;
}

bool has_forks(const HeldSessions& sessions, int id) {
  return std::any_of(sessions.begin(), sessions.end(),
                     [id](const auto& entry) { return entry.second.session->parent() == id; });
}

int living(const HeldSessions& sessions) {
  return static_cast<int>(std::count_if(sessions.begin(), sessions.end(), [](const auto& entry) {
    return entry.second.session->state() != GuestSession::State::dead;
  }));
}

std::vector<Folder::Identity> folders_of(const HeldSessions& sessions) {
  std::vector<Folder::Identity> all;
  for (const auto& [id, held] : sessions)
    if (held.session->folder() && held.session->state() != GuestSession::State::dead)
      all.push_back(held.session->folder()->identity());
  return all;
}

}  // namespace agon::sandbox::launcher
