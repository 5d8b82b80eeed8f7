#include "core/decoder/confinement.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "core/decoder/protocol.h"

namespace agon::decoder {
namespace {

constexpr int kSocket = 0;

void limit(int resource, rlim_t value) {
  rlimit both;
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) _exit(kNotShutIn);
  both.rlim_cur = both.rlim_max = std::min(value, both.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) _exit(kNotShutIn);
}

}  // namespace

void send_all(const void* bytes, std::size_t count) {
  for (const auto* from = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t sent = ::send(kSocket, from, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(0);
    from += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void receive_all(void* bytes, std::size_t count) {
  for (auto* to = static_cast<char*>(bytes); count > 0;) {
    const ssize_t received = ::recv(kSocket, to, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) _exit(0);
    to += received;
    count -= static_cast<std::size_t>(received);
  }
}

void limit_memory(std::uint64_t mapped, std::uint64_t more) {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0) _exit(kNotShutIn);
  limit.rlim_cur = std::min<rlim_t>(mapped + more, limit.rlim_max);
  if (::setrlimit(RLIMIT_AS, &limit) != 0) _exit(kNotShutIn);
}

void limit_cpu(std::uint32_t milliseconds) {
  const itimerval timer{{0, 0}, {milliseconds / 1000, milliseconds % 1000 * 1000}};
  if (::setitimer(ITIMER_PROF, &timer, nullptr) != 0) _exit(kNotShutIn);
}

std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    unsigned long long read = 0;
    if (std::fscanf(file, "%llu", &read) == 1) pages = read;
    std::fclose(file);
  }
  return pages == 0 ? 64ull << 20 : pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void shut_in(std::uint64_t memory, std::uint64_t descriptors, std::initializer_list<int> more) {
  limit(RLIMIT_AS, memory);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, descriptors);
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(kNotShutIn);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) _exit(kNotShutIn);
  for (int call :
       {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(munmap),
        SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(exit), SCMP_SYS(exit_group),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(getrandom),
        SCMP_SYS(setitimer), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit)})
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) _exit(kNotShutIn);
  for (const int call : more)
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) _exit(kNotShutIn);
  if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) != 0 ||
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) !=
          0 ||
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0_32(SCMP_CMP_EQ, 0)) != 0 ||
      seccomp_load(filter) != 0)
    _exit(kNotShutIn);
  seccomp_release(filter);
}

}  // namespace agon::decoder
