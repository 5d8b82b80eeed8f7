#include "sandbox/launcher/supervisor/share.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "sandbox/launcher/small_file.h"

namespace agon::sandbox::launcher {
namespace {

struct Attributes {  // struct sched_attr, whose header and <sched.h> both define sched_param
  std::uint32_t size = sizeof(Attributes), policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice = 0, deadline = 0, period = 0;  // nanoseconds
};
static_assert(sizeof(Attributes) == 48);  // SCHED_ATTR_SIZE_VER0

}  // namespace

void take_own_share() { setsid(); }

// An older kernel ignores the slice.
void wake_soon() {
  constexpr std::uint64_t kSlice = 100'000;
  Attributes wish;
  wish.nice = getpriority(PRIO_PROCESS, 0);
  wish.slice = kSlice;
  syscall(SYS_sched_setattr, 0, &wish, 0);
}

void wake_late() {
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);
}

std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds own_waiting_time() {
  const auto text = read_small_file(AT_FDCWD, "/proc/thread-self/schedstat");
  std::int64_t waited = 0;
  if (text) std::sscanf(text->c_str(), "%*d %ld", &waited);
  return std::chrono::nanoseconds(waited);
}

}  // namespace agon::sandbox::launcher
