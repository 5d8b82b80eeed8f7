// sandbox/launcher/isolation/isolation.h - builds the isolation: tries its tiers from the best one down to the floor,
// by doing, and remembers why each better one was missed (docs/sandbox.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/result.h"

namespace agon::sandbox::launcher {

struct WantedTiers {
  Tier best = Tier::a, floor = Tier::b;
  std::vector<std::string> readable;  // folders besides /usr
  bool contained = false;             // by bwrap or an engine, which have made the outer namespaces and the root
};

// What a supervisor works with.
struct Walls {
  Tier tier = Tier::c;
  int cgroups = -1;                   // the folder of the sandbox's cgroup; -1: limits are watched
  std::string folder;                 // where sessions have their files; empty: each has a mount namespace of its own
  std::vector<std::string> readable;  // all that sessions may read, where Landlock alone says so
  int room = 0;                       // sessions that can live at a time, by the descriptors and processes they need
  bool has_namespaces() const { return folder.empty(); }
};

// Where this process is root: becomes the user that root lends to the sandbox. Throws Error if there is no such user.
void become_outer_user();

using Work = std::function<void(const Walls& walls, const std::vector<MissedTier>& missed)>;

// Runs `work` behind the walls of the best tier available, in a process of its own, waits for its end, and ends and
// removes whatever it has left. on_started: called here when the walls stand. Throws Error with the reason of every
// tier if none down to the floor is available.
void run_behind_walls(const WantedTiers& wanted, const Work& work, const std::function<void()>& on_started);

}  // namespace agon::sandbox::launcher
