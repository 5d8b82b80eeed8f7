// sandbox/launcher/session/surroundings.h - what a session needs of the supervisor.
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

inline constexpr auto kFresh = std::chrono::milliseconds(2);  // age of a census, where it matters

struct Surroundings {
  const Walls& walls;
  const TemplateMemory& template_memory;
  const Descriptor& reports;  // for first processes (first_process.h)
  // Its living and ended ones (census.h), as they were so long ago at most.
  std::function<std::vector<pid_t>(int session, std::chrono::milliseconds age)> processes;
  std::function<std::vector<Folder::Identity>()> folders;  // of all sessions, where they share a file system
};

}  // namespace agon::sandbox::launcher
