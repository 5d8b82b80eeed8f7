// sandbox/launcher/session/artifacts.h - collects the files that a call returns: the ones that it requests, and its new
// pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/call_request.h"
#include "sandbox/launcher/session/folder.h"
#include "sandbox/launcher/session/session_files.h"

namespace agon::sandbox::launcher {

class Artifacts {
 public:
  using Home = std::function<Folder()>;  // the session's files; throws std::system_error

  void begin_call(const CallRequest& request, const Home& home);
  // Call it when the call has ended. Returns the number of pictures that were left out. most_of_file: bytes.
  std::int64_t collect(const CallRequest& request, std::int64_t most_of_file, const Home& home);
  std::vector<OpenFile> take() { return std::exchange(files_, {}); }
  void on_written() { pictures_.reset(); }  // something other than a call has changed the workspace

 private:
  std::vector<OpenFile> files_;
  std::optional<std::map<std::string, FileState>> pictures_;  // at the end of the last call, if they were listed then
};

}  // namespace agon::sandbox::launcher
