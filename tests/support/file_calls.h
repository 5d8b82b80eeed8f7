// tests/support/file_calls.h - records the system calls of core/file.h, and makes them fail.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"

namespace agon::test {

// Records the calls while it lives, in order: name and path.
class FileCalls {
 public:
  // The call number `failing` (from 0) fails with `code`.
  explicit FileCalls(std::size_t failing = ~std::size_t{0}, int code = 0) {
    set_file_probe([this, failing, code](std::string_view call, const std::string& path) {
      calls.emplace_back(call, path);
      return calls.size() - 1 == failing ? code : 0;
    });
  }
  ~FileCalls() { set_file_probe({}); }
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, path] : calls) result.push_back(name);
    return result;
  }
  std::vector<std::pair<std::string, std::string>> calls;
};

// Runs `work` in a child process that is killed before its call number `call`. False: it ended before that.
inline bool killed_at(std::size_t call, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::size_t seen = 0;
    set_file_probe([&](std::string_view, const std::string&) {
      if (seen++ == call) ::kill(::getpid(), SIGKILL);
      return 0;
    });
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

}  // namespace agon::test
