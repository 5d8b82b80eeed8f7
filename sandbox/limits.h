// sandbox/limits.h - the limits of a session. Result::reason names the limit that a call exceeded (sandbox/result.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/json.h"

namespace agon::sandbox {

struct Limits {
  double wall = 10;                   // seconds per call
  double cpu = 10;                    // seconds per call, of all processes
  std::int64_t memory = 512ll << 20;  // bytes that the session's processes add to what all sessions share
  std::int64_t processes = 32;        // processes and threads at once
  std::int64_t file = 64ll << 20;     // bytes of one file
  std::int64_t disk = 64ll << 20;     // bytes of all files: the workspace, /tmp and /dev/shm
  std::int64_t inodes = 10'000;       // files and folders
  std::int64_t output = 256ll << 20;  // bytes that a call may print on stdout and stderr before it is ended
  std::int64_t kept_output =
      64ll << 10;  // bytes of either stream that the result keeps: half from its head, half from its tail
  bool operator==(const Limits&) const = default;
};

// "wall=2,memory=512M": changes to `base`; sizes take K, M, G. Throws Error for an unknown name or a value out of
// range.
Limits parse_limits(std::string_view text, const Limits& base = {});

Json to_json(const Limits& limits);
Limits limits_from_json(const Json& json);

}  // namespace agon::sandbox
