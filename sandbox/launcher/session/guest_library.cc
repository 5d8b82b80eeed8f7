#include "sandbox/launcher/session/guest_library.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "sandbox/launcher/isolation/capabilities.h"
#include "sandbox/launcher/isolation/landlock.h"

namespace {

// False if some of the bytes cannot be read.
bool copy(int file, off_t at, const char* begin, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t wrote = pwrite(file, begin + done, size - done, at + static_cast<off_t>(done));
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

}  // namespace

extern "C" int agon_fork(const int* namespaces, int count, int channel, const char* said, int size, int* tid) {
  volatile bool made = false;  // by the intermediate process, which ends before this one continues
  const pid_t between = vfork();
  if (between == 0) {
    bool inside = send(channel, said, static_cast<std::size_t>(size), MSG_NOSIGNAL) == size;
    for (int i = 0; i < count; ++i) inside = inside && setns(namespaces[i], 0) == 0;
    if (!inside) _exit(1);
    const pid_t own = getpid();
    const long child =
        syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, nullptr, nullptr, tid, nullptr);
    if (child == 0) {  // in a copy of the memory, which still has the caller's stack frames
      while (count == 0 && getppid() == own) usleep(20);  // until whoever adopts orphans is its parent
      return 0;
    }
    made = child > 0;
    _exit(0);
  }
  // The caller may ignore SIGCHLD; then there is nothing to wait for.
  while (between > 0 && waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  return made ? 1 : -1;
}

extern "C" void agon_gather(int file, const unsigned long* ranges, int count) {
  constexpr int kAccess = PROT_READ | PROT_WRITE | PROT_EXEC, kFlags = MAP_PRIVATE | MAP_NORESERVE;
  off_t at = 0;
  for (int i = 0; i < count; ++i) {
    char* const begin = reinterpret_cast<char*>(ranges[2 * i]);
    const std::size_t size = ranges[2 * i + 1] - ranges[2 * i];
    if (!copy(file, at, begin, size)) continue;
    void* const copied = mmap(nullptr, size, kAccess, kFlags, file, at);
    if (copied == MAP_FAILED) return;
    mremap(copied, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin);
    at += static_cast<off_t>(size);
  }
}

extern "C" void agon_drop_capabilities() {
  try {
    agon::sandbox::launcher::drop_capabilities();
  } catch (const std::system_error&) {
  }
}

extern "C" int agon_confine(const char* home, const char* forks, const char* const* readable) {
  try {
    agon::sandbox::launcher::LandlockRules rules{{}, {"/dev"}, {home, forks}};
    for (; *readable; ++readable) rules.readable.emplace_back(*readable);
    agon::sandbox::launcher::restrict_files(rules);
    return 0;
  } catch (const std::system_error& error) {
    errno = error.code().value();
    return -1;
  }
}
