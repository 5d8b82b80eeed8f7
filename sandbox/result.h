// sandbox/result.h - how a call in a sandbox ended, and what it left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace agon::sandbox {

enum class Reason {
  ok,
  exception,  // the code raised, or left with a code other than 0
  wall_timeout,
  cpu_limit,
  memory_limit,
  process_limit,
  disk_limit,  // bytes of one file, bytes in all, or inodes
  output_limit,
  killed_by_signal,  // the interpreter ended by a signal of the code's own making
  protocol_error,    // the interpreter's answer was invalid, or the code ended the session in another way
  sandbox_lost,      // the machinery failed: never the code's fault, never a reward
};
std::string_view to_string(Reason reason);
Reason reason_from(std::string_view name);  // throws Error

// How strong the isolation is (docs/sandbox.md).
//   A  namespaces, cgroup v2, Landlock, seccomp
//   B  the same; limits by rlimits and a supervisor that watches
//   C  no namespaces: Landlock, seccomp, rlimits
enum class Tier { a, b, c };
std::string_view to_string(Tier tier);  // "A"
Tier tier_from(std::string_view name);  // throws Error
inline bool weaker(Tier tier, Tier floor) { return tier > floor; }

// A better tier that was unavailable.
struct MissedTier {
  Tier tier = Tier::a;
  std::string why;
};

struct Artifact {
  std::string name;   // path beneath the workspace
  std::string bytes;  // as it was in the file
};

struct Result {
  Reason reason = Reason::sandbox_lost;
  Tier tier = Tier::c;
  std::string text;                // the last line of the exception, or what ended the call
  std::string out, err;            // stdout and stderr, cut in the middle; valid UTF-8
  std::int64_t dropped_bytes = 0;  // of both, cut away
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_memory = 0;  // bytes
  bool alive = false;            // the session takes further calls
  bool ran = false;              // false: it had ended before, for `reason`, and nothing of the code was run
  std::vector<Artifact> artifacts;
  std::int64_t pictures_left = 0;  // new ones that did not come out: too many, too large, or nobody can read them
  bool ok() const { return reason == Reason::ok; }
};

// Everything but the artifacts' bytes: those by name and size.
Json to_json(const Result& result);
// A launcher's answer: that, and "artifacts" with their bytes. Throws Error for anything else.
Result result_from_json(const Json& json);

}  // namespace agon::sandbox
