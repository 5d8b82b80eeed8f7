// agon-decode - decodes pictures that may be hostile, for one agon: requests come over the socket at descriptor 0. It
// opens no file, starts no process, and decodes each picture within the memory and the CPU time that the request gives.
// It ends with the socket, with a picture that it cannot decode, or by a signal: agon then starts another.
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
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "core/decoder/codecs.h"
#include "core/decoder/exif_turn.h"
#include "core/decoder/protocol.h"

namespace agon::decoder {
namespace {

constexpr int kSocket = 0;
constexpr std::uint64_t kOwnMemory = 64ull << 20;  // the decoder's own, and what libraries set aside
constexpr std::uint64_t kMostMemory = 4ull << 30;  // whatever a request allows

// Whole, or the process ends: the process that asked is gone.
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

// Address space: what was mapped at the start and `more`.
void limit_memory(std::uint64_t mapped, std::uint64_t more) {
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) != 0) _exit(kNotShutIn);
  limit.rlim_cur = std::min<rlim_t>(mapped + more, limit.rlim_max);
  if (::setrlimit(RLIMIT_AS, &limit) != 0) _exit(kNotShutIn);
}

// SIGPROF ends the process once it has used this much more CPU time; 0: never.
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

void limit(int resource, rlim_t value) {
  rlimit both;
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) _exit(kNotShutIn);
  both.rlim_cur = both.rlim_max = std::min(value, both.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) _exit(kNotShutIn);
}

// From here on: memory, the socket, the clock, and no more.
void shut_in(std::uint64_t mapped) {
  limit(RLIMIT_AS, mapped + kMostMemory);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 1);
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(kNotShutIn);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) _exit(kNotShutIn);
  for (int call :
       {SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(munmap),
        SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(exit), SCMP_SYS(exit_group),
        SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(getrandom),
        SCMP_SYS(setitimer), SCMP_SYS(getrlimit), SCMP_SYS(setrlimit)})
    if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) != 0) _exit(kNotShutIn);
  if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) != 0 ||
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) !=
          0 ||
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0_32(SCMP_CMP_EQ, 0)) != 0 ||
      seccomp_load(filter) != 0)
    _exit(kNotShutIn);
  seccomp_release(filter);
}

Picture decode_coded(const Request& request, std::span<const std::uint8_t> encoded) {
  switch (request.format) {
    case 0:
      return decode_png(encoded, request.coded_width, request.coded_height);
    case 1:
      return decode_jpeg(encoded, request.coded_width, request.coded_height);
    default:
      return decode_webp(encoded, request.coded_width, request.coded_height);
  }
}

// A picture that covers a part of what is asked for is laid on white.
Picture decode(const Request& request, std::span<const std::uint8_t> encoded) {
  Picture coded = decode_coded(request, encoded);
  if (coded.width == request.width && coded.height == request.height) return coded;
  const std::size_t bytes = std::size_t(request.width) * request.height * 3;
  Picture whole{request.width, request.height, std::unique_ptr<std::uint8_t[]>(new std::uint8_t[bytes])};
  std::memset(whole.rgb.get(), 255, bytes);
  for (std::size_t row = 0; row < coded.height; ++row)
    std::memcpy(&whole.rgb[((row + request.top) * whole.width + request.left) * 3], &coded.rgb[row * coded.width * 3],
                std::size_t(coded.width) * 3);
  return whole;
}

void send_reply(std::uint32_t width, std::uint32_t height, std::uint64_t bytes) {
  const Reply reply{1, width, height, 0, bytes};
  send_all(&reply, sizeof(reply));
}

// The picture turned as EXIF says, some rows at a time.
void send_turned(const Picture& picture, std::uint32_t orientation) {
  constexpr std::size_t kRows = 32;
  const std::size_t width = swaps_sides(orientation) ? picture.height : picture.width;
  const std::size_t height = swaps_sides(orientation) ? picture.width : picture.height;
  std::vector<std::uint8_t> rows(std::min(kRows, height) * width * 3);
  for (std::size_t top = 0; top < height; top += kRows) {
    rows.resize(std::min(kRows, height - top) * width * 3);
    copy_turned_rows(picture, orientation, top, rows);
    send_all(rows.data(), rows.size());
  }
}

void answer(const Request& request, std::uint64_t mapped) {
  limit_memory(mapped, request.memory + request.encoded_bytes + kOwnMemory);
  limit_cpu(request.milliseconds);
  const std::unique_ptr<std::uint8_t[]> encoded(new std::uint8_t[request.encoded_bytes]);
  receive_all(encoded.get(), request.encoded_bytes);
  const Picture picture = decode(request, {encoded.get(), request.encoded_bytes});
  limit_cpu(0);
  const bool swaps = swaps_sides(request.orientation);
  const std::uint64_t bytes = request.wants_pixels ? std::uint64_t(picture.width) * picture.height * 3 : 0;
  send_reply(swaps ? picture.height : picture.width, swaps ? picture.width : picture.height, bytes);
  if (bytes == 0) return;
  if (request.orientation <= 1)
    send_all(picture.rgb.get(), bytes);
  else
    send_turned(picture, request.orientation);
}

}  // namespace

void give_up(const char* why) {
  Reply reply;
  reply.bytes = std::min<std::uint64_t>(std::strlen(why), kMostErrorBytes);
  send_all(&reply, sizeof(reply));
  send_all(why, reply.bytes);
  _exit(1);
}

}  // namespace agon::decoder

int main() {
  using namespace agon::decoder;
  const std::uint64_t mapped = mapped_bytes();
  shut_in(mapped);
  for (;;) {
    Request request;
    receive_all(&request, sizeof(request));
    try {
      answer(request, mapped);
    } catch (const std::bad_alloc&) {
      give_up("it needs more memory than its size allows");
    }
  }
}
