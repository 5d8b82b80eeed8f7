// tests/support/small_files.h - simulates a full disk by limiting the size of files.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace agon::test {

// While it lives, no file of this process can grow past `bytes`.
struct SmallFiles {
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit now{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  rlimit before{};
  void (*handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

}  // namespace agon::test
