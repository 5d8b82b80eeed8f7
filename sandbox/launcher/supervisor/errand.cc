#include "sandbox/launcher/supervisor/errand.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/share.h"

namespace agon::sandbox::launcher {
namespace {

struct Message {  // small enough for an atomic write to a pipe
  Errand::Values values{};
  int error = 0;
  std::int64_t cpu = 0;  // nanoseconds
  char text[240] = {};
};

[[noreturn]] void run(const std::function<Errand::Values()>& work, int writing) {
  Message message;
  try {
    message.values = work();
  } catch (const std::system_error& error) {
    message.error = error.code().value();
    std::strncpy(message.text, error.what(), sizeof message.text - 1);
  } catch (const std::exception& error) {
    message.error = EIO;
    std::strncpy(message.text, error.what(), sizeof message.text - 1);
  }
  message.cpu = own_cpu_time().count();
  _exit(write(writing, &message, sizeof message) == sizeof message ? 0 : 1);
}

}  // namespace

void close_all_but(std::vector<int> needed) {
  needed.insert(needed.end(), {0, 1, 2});
  std::sort(needed.begin(), needed.end());
  unsigned next = 0;
  for (const int descriptor : needed) {
    if (descriptor < 0) continue;
    const auto kept = static_cast<unsigned>(descriptor);
    if (kept > next) syscall(SYS_close_range, next, kept - 1, 0);
    next = std::max(next, kept + 1);
  }
  syscall(SYS_close_range, next, ~0u, 0);
}

Errand Errand::start(const std::function<Values()>& work, const std::vector<int>& needed) {
  Errand errand;
  Pipe pipe = make_pipe();
  const pid_t parent = getpid();
  errand.process_ = checked(fork(), "starting an errand");
  if (errand.process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    prctl(PR_SET_NAME, "agon-errand");
    take_own_share();
    wake_late();
    std::vector<int> kept = needed;
    kept.push_back(pipe.writing.get());
    close_all_but(std::move(kept));
    run(work, pipe.writing.get());
  }
  errand.reading_ = std::move(pipe.reading);
  return errand;
}

Errand::Errand(Errand&& other) noexcept
    : process_(std::exchange(other.process_, 0)), reading_(std::move(other.reading_)) {}

// The previous work of this errand ends with `other`.
Errand& Errand::operator=(Errand&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(reading_, other.reading_);
  return *this;
}

// An errand that has closed its pipe ends by itself, and another process may have its number now.
Errand::~Errand() {
  pollfd done{reading_.get(), POLLIN, 0};
  if (process_ != 0 && poll(&done, 1, 0) == 0) ::kill(process_, SIGKILL);
}

std::optional<Errand::Outcome> Errand::take() {
  pollfd done{reading_.get(), POLLIN, 0};
  if (process_ == 0 || poll(&done, 1, 0) != 1) return std::nullopt;
  Message message;
  const ssize_t got = read(reading_.get(), &message, sizeof message);
  process_ = 0;
  reading_.reset();
  if (got != sizeof message) return Outcome{{}, EIO, "the work was ended before it was done", {}};
  message.text[sizeof message.text - 1] = 0;
  return Outcome{message.values, message.error, message.text, std::chrono::nanoseconds(message.cpu)};
}

}  // namespace agon::sandbox::launcher
