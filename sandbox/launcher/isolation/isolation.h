// sandbox/launcher/isolation/isolation.h - builds the isolation of a sandbox. It tries to build each tier, from the
// best one down to the floor, and records why better ones are unavailable (docs/sandbox.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sandbox/result.h"

namespace agon::sandbox::launcher {

struct WantedTiers {
  Tier best = Tier::a, floor = Tier::b;
  std::vector<std::string> readable;  // folders in addition to /usr
  bool contained = false;             // bwrap or an engine has made the outer namespaces and the root
};

// The isolation that a supervisor runs in.
struct Walls {
  Tier tier = Tier::c;
  int cgroups = -1;    // the folder of the sandbox's cgroup; -1: the supervisor checks the limits
  std::string folder;  // folder of the sessions' files; empty: each session has a mount namespace of its own
  std::vector<std::string> readable;  // everything that sessions may read, if Landlock alone restricts it
  int room = 0;                       // maximum number of sessions, by the descriptors and processes they need
  bool has_namespaces() const { return folder.empty(); }
};

// If this process is root, becomes the unprivileged user that the sandbox runs as. Throws Error if there is no such
// user.
void become_outer_user();

using Work = std::function<void(const Walls& walls, const std::vector<MissedTier>& missed)>;

// Runs `work` in a process of its own, in the isolation of the best tier available. Waits for its end, then ends and
// removes everything that it left. on_started: called in this process when the isolation is complete. Throws Error with
// the reason of every tier if none down to the floor is available.
void run_behind_walls(const WantedTiers& wanted, const Work& work, const std::function<void()>& on_started);

}  // namespace agon::sandbox::launcher
