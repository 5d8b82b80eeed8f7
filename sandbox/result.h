// sandbox/result.h - the result of a call in a sandbox: how it ended and what it left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace agon::sandbox {

enum class Reason {
  ok,
  exception,  // the code raised an exception, or exited with a code other than 0
  wall_timeout,
  cpu_limit,
  memory_limit,
  process_limit,
  disk_limit,  // bytes of one file, bytes in all, or inodes
  output_limit,
  killed_by_signal,  // a signal that the code caused ended the interpreter
  protocol_error,    // the interpreter's answer was invalid, or the code ended the session in another way
  sandbox_lost,      // the sandbox itself failed: never the code's fault, never a reward
};
std::string_view to_string(Reason reason);
Reason reason_from(std::string_view name);  // throws Error

// How strong the isolation is (docs/sandbox.md).
//   A  namespaces, cgroup v2, Landlock, seccomp
//   B  as A, but rlimits and a supervisor that checks usage instead of the cgroup
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
  std::string bytes;  // the contents of the file
};

struct Result {
  Reason reason = Reason::sandbox_lost;
  Tier tier = Tier::c;
  std::string text;                // the last line of the exception, or what ended the call
  std::string out, err;            // stdout and stderr, cut in the middle; valid UTF-8
  std::int64_t dropped_bytes = 0;  // cut from both together
  double wall_s = 0, cpu_s = 0;
  std::int64_t peak_memory = 0;  // bytes
  bool alive = false;            // the session accepts further calls
  bool ran = false;              // false: the session had already ended, for `reason`, and ran none of the code
  std::vector<Artifact> artifacts;
  std::int64_t pictures_left = 0;  // new pictures that were not returned: too many, too large, or unreadable
  bool ok() const { return reason == Reason::ok; }
};

// Everything except the artifacts' bytes: artifacts are listed by name and size.
Json to_json(const Result& result);
// Reads a launcher's answer: the same, and "artifacts" with their bytes. Throws Error for anything else.
Result result_from_json(const Json& json);

}  // namespace agon::sandbox
