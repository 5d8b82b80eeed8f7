// tests/sandbox/abuse_runner/case.h - reads a case of the abuse suite from its file (tests/sandbox/abuse/README.md has
// the format).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/limits.h"

namespace agon::sandbox::abuse {

struct Range {
  double least = 0, most = 0;
};

struct Step {
  std::string kind;  // "", "next call", "other session", "fork", "back" and the others of the README
  std::string code;
  std::vector<std::string> reasons = {"ok"};
  std::string output, text;
  std::optional<Range> cpu, peak;       // seconds; bytes
  std::optional<double> neighbour;      // milliseconds
  std::size_t same_as = 0, unlike = 0;  // numbers of parts; 0: none
  int count = 1;                        // number of sessions or forks
  int times = 1;                        // runs of its code
};

struct Case {
  std::vector<Step> steps;
  Limits limits = parse_limits("wall=5,cpu=5,memory=512M,processes=32,file=64M,disk=64M,inodes=10000,output=256M");
  std::string tiers;
  bool dropped = false;
  std::vector<std::string> artifacts;
  std::size_t pictures = 0;
  bool names_processes = false;
  bool uses_host = false;                    // its code has @HOST@
  std::optional<double> on_disk, in_memory;  // bytes, at most
};

// Placeholder in the code of a step for a folder of the host (host_folder.h).
inline constexpr const char* kHostFolder = "@HOST@";

// Throws Error for a file that is not a case.
Case read_case(const std::filesystem::path& path);

}  // namespace agon::sandbox::abuse
