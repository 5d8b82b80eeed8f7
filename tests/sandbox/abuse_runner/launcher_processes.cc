#include "tests/sandbox/abuse_runner/launcher_processes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

#include "core/text.h"
#include "tests/sandbox/abuse_runner/host.h"

namespace agon::sandbox::abuse {
namespace {

namespace fs = std::filesystem;

// A process and its descendants.
std::vector<std::string> process_tree(const std::string& process) {
  std::vector<std::string> all = {process};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code gone;
    fs::directory_iterator task("/proc/" + all[i] + "/task", gone);
    for (; !gone && task != fs::directory_iterator(); task.increment(gone))
      for (const std::string& child : split_words(text_of(task->path() / "children"))) all.push_back(child);
  }
  return all;
}

double bytes_in(const std::string& status, const std::string& name) {
  const std::size_t found = status.find("\n" + name + ":");
  return found == std::string::npos ? 0 : 1024 * std::atof(status.c_str() + found + name.size() + 2);
}

}  // namespace

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

double memory_of(const std::string& launcher) {
  double bytes = 0;
  for (const std::string& process : process_tree(launcher)) {
    const std::string status = text_of("/proc/" + process + "/status");
    bytes += bytes_in(status, "RssAnon") + bytes_in(status, "RssShmem");
  }
  return bytes;
}

double cpu_of(const std::string& launcher) {
  double ticks = 0;
  for (const std::string& process : process_tree(launcher)) {
    const std::string stat = text_of("/proc/" + process + "/stat");
    const std::vector<std::string> fields = split_words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
    if (fields.size() > 12) ticks += std::atof(fields[11].c_str()) + std::atof(fields[12].c_str());
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double disk_of(const std::string& launcher) {
  double bytes = 0;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + launcher + "/fd", gone)) {
    const fs::path path = fs::read_symlink(entry.path(), gone);
    if (!path.string().starts_with("/tmp/agon-sandbox-")) continue;
    std::set<ino_t> seen;
    fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, gone);
    for (; at != fs::recursive_directory_iterator(); at.increment(gone)) {
      struct stat status {};
      if (lstat(at->path().c_str(), &status) == 0 && seen.insert(status.st_ino).second)
        bytes += 512.0 * static_cast<double>(status.st_blocks);
    }
  }
  return bytes;
}

bool has_canary_open(const std::string& launcher) {
  std::error_code gone;
  for (const std::string& process : process_tree(launcher)) {
    fs::directory_iterator at("/proc/" + process + "/fd", gone);
    for (; !gone && at != fs::directory_iterator(); at.increment(gone))
      if (fs::read_symlink(at->path(), gone).string().starts_with(kCanary)) return true;
  }
  return false;
}

}  // namespace agon::sandbox::abuse
