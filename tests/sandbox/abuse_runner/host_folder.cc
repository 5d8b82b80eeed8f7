#include "tests/sandbox/abuse_runner/host_folder.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "core/error.h"
#include "tests/sandbox/abuse_runner/host.h"

namespace agon::sandbox::abuse {
namespace {

namespace fs = std::filesystem;

// The contents of a folder of the host, with everything that a guest might change.
std::map<std::string, std::string> state_of(const fs::path& folder) {
  std::map<std::string, std::string> found;
  const auto take = [&](const fs::path& path) {
    struct stat status {};
    lstat(path.c_str(), &status);
    found[path] = fmt::format("mode {:o}, {} bytes, owner {}:{}, changed {}", status.st_mode,
                              S_ISDIR(status.st_mode) ? 0 : status.st_size, status.st_uid, status.st_gid,
                              S_ISDIR(status.st_mode) ? 0 : status.st_mtime);
  };
  take(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) take(entry.path());
  return found;
}

}  // namespace

PrivateHostFolder::PrivateHostFolder() {
  path_ = fs::temp_directory_path() / "agon-abuse-host-XXXXXX";
  if (!mkdtemp(path_.data())) throw Error("abuse: no folder {}: {}", path_, std::strerror(errno));
  fs::permissions(path_, fs::perms(0777));
  std::ofstream(path_ + "/file") << kSecret;
  fs::permissions(path_ + "/file", fs::perms(0644));
  fs::create_directory(path_ + "/numbered");
  fs::permissions(path_ + "/numbered", fs::perms(0777));
  for (int i = 1; i <= 40; ++i) {
    const std::string inner = fmt::format("{}/numbered/{}", path_, i);
    fs::create_directory(inner);
    fs::permissions(inner, fs::perms(0777));
    std::ofstream(inner + "/file") << kSecret;
  }
  before_ = state_of(path_);
}

PrivateHostFolder::~PrivateHostFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> PrivateHostFolder::faults() const {
  std::vector<std::string> found;
  const auto now = state_of(path_);
  for (const auto& [path, state] : before_)
    if (!now.contains(path))
      found.push_back("the host's " + path + " is gone");
    else if (now.at(path) != state)
      found.push_back(fmt::format("the host's {} was changed: {}, before {}", path, now.at(path), state));
  for (const auto& [path, state] : now)
    if (!before_.contains(path)) found.push_back("the host has a new " + path);
  return found;
}

}  // namespace agon::sandbox::abuse
