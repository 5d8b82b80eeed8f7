// tests/sandbox/abuse_runner/host_folder.h - files of the host that a case may try to change.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace agon::sandbox::abuse {

// A folder of the user who runs the case: `file` (mode 0644) and, in `numbered`, folders 1 to 40 with a file each. A
// case may try to change it through the supervisor.
class PrivateHostFolder {
 public:
  PrivateHostFolder();
  ~PrivateHostFolder();
  const std::string& path() const { return path_; }
  std::vector<std::string> faults() const;  // what has changed

 private:
  std::string path_;
  std::map<std::string, std::string> before_;
};

}  // namespace agon::sandbox::abuse
