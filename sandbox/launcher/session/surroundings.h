// sandbox/launcher/session/surroundings.h - the parts of the supervisor that a session needs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

#include "core/descriptor.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/session/folder.h"
#include "sandbox/launcher/supervisor/usage.h"

namespace agon::sandbox::launcher {

using Clock = std::chrono::steady_clock;

inline constexpr auto kFresh = std::chrono::milliseconds(2);  // maximum age of a census, if the age matters

struct Surroundings {
  const Walls& walls;
  const TemplateMemory& template_memory;
  const Descriptor& reports;  // for init processes (init_process.h)
  // The session's living processes and zombies (census.h), from a census at most `age` old.
  std::function<std::vector<pid_t>(int session, std::chrono::milliseconds age)> processes;
  std::function<std::vector<Folder::Identity>()> folders;  // of all sessions, if they share a file system
};

}  // namespace agon::sandbox::launcher
