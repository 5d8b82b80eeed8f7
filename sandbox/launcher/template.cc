#include "sandbox/launcher/template.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstring>

#include "core/json.h"
#include "sandbox/launcher/capabilities.h"
#include "sandbox/launcher/guest_protocol.h"
#include "sandbox/launcher/landlock.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/seccomp_policy.h"

namespace agon::sandbox::launcher {
namespace {

constexpr int kHandOver = 6;  // where the new process sends seccomp's listener through

const char* const kEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                    "HOME=/home/agent",
                                    "USER=agent",
                                    "LANG=C.UTF-8",
                                    "TZ=UTC",
                                    "OPENBLAS_NUM_THREADS=1",
                                    "OMP_NUM_THREADS=1",
                                    "MKL_NUM_THREADS=1",
                                    "MALLOC_ARENA_MAX=2",
                                    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                    "PYTHONDONTWRITEBYTECODE=1",
                                    "MPLBACKEND=Agg",
                                    nullptr};

std::string harness_for(const TemplateConfig& config) {
  std::string text = std::string(kHarness) + "\npreload([";
  for (const std::string& name : config.modules) text += Json(name).dump() + ",";
  return text + "])\nserve_sandbox(True, " + Json(kHome).dump() + ")\n";
}

Descriptor memory_file(const std::string& text) {
  Descriptor file(static_cast<int>(checked(syscall(SYS_memfd_create, "harness", MFD_CLOEXEC), "memfd_create")));
  checked(write(file.get(), text.data(), text.size()), "writing the harness");
  return file;
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  checked(setrlimit(resource, &both), "setrlimit");
}

// SCM_RIGHTS, by hand: the listener exists only behind the filter.
void send_descriptor(int socket, int descriptor) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  checked(sendmsg(socket, &message, 0), "handing the listener over");
}

Descriptor receive_descriptor(int socket) {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = checked(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), "taking the listener");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (got == 0 || !header) return {};
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return Descriptor(descriptor);
}

void place(int from, int to) { checked(from == to ? fcntl(from, F_SETFD, 0) : dup2(from, to), "dup2"); }

struct Ends {
  int channel, harness, library, errors, hand_over;
};

// Every number below 10 is free for its place: they were moved up first.
void arrange_descriptors(const Ends& ends) {
  const auto up = [](int descriptor) { return checked(fcntl(descriptor, F_DUPFD, 10), "dup"); };
  const Ends high{up(ends.channel), up(ends.harness), up(ends.library), up(ends.errors), up(ends.hand_over)};
  const int null = up(checked(open("/dev/null", O_RDWR), "/dev/null"));
  place(null, 0);
  place(null, 1);
  place(high.errors, 2);
  place(high.channel, kGuestChannel);
  place(high.harness, kGuestHarness);
  place(high.library, kGuestLibrary);
  place(high.hand_over, kHandOver);
  checked(static_cast<int>(syscall(SYS_close_range, kHandOver + 1, ~0u, 0)), "close_range");
}

[[noreturn]] void become_template(const TemplateConfig& config, const Ends& ends, const std::string& filter) {
  arrange_descriptors(ends);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 512);
  limit(RLIMIT_MEMLOCK, 64 << 10);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_SIGPENDING, 256);
  drop_capabilities();
  checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  restrict_files({{"/"}, {"/dev"}, {"/home"}});
  {
    const Descriptor listener = install_seccomp(filter, true);
    send_descriptor(kHandOver, listener.get());
  }
  close(kHandOver);
  const char* const arguments[] = {config.interpreter.c_str(), "-I", "-c",
                                   "exec(compile(open(4).read(), 'agon-sandbox', 'exec'))", nullptr};
  execve(config.interpreter.c_str(), const_cast<char**>(arguments), const_cast<char**>(kEnvironment));
  checked(-1, "starting " + config.interpreter);
  _exit(1);
}

}  // namespace

Template start_template(const TemplateConfig& config) {
  Template started;
  Descriptor channel;
  std::tie(started.channel, channel) = GuestChannel::make();
  const Descriptor harness = memory_file(harness_for(config));
  const std::string filter = seccomp_program(true);
  int pipe_ends[2], sockets[2];
  checked(pipe2(pipe_ends, O_CLOEXEC), "pipe");
  started.errors = Descriptor(pipe_ends[0]);
  const Descriptor errors(pipe_ends[1]);
  checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), "socketpair");
  const Descriptor ours(sockets[0]);
  Descriptor theirs(sockets[1]);
  lseek(harness.get(), 0, SEEK_SET);
  started.process = checked(fork(), "fork");
  if (started.process == 0) {
    try {
      become_template(config, {channel.get(), harness.get(), config.library, errors.get(), theirs.get()}, filter);
    } catch (const std::exception& error) {
      const std::string text = std::string(error.what()) + "\n";
      if (write(2, text.data(), text.size()) < 0) _exit(2);
      _exit(1);
    }
  }
  theirs.reset();
  started.questions = receive_descriptor(ours.get());
  return started;
}

}  // namespace agon::sandbox::launcher
