#include "sandbox/launcher/isolation/template.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>

#include "core/json.h"
#include "sandbox/launcher/harness.h"
#include "sandbox/launcher/isolation/capabilities.h"
#include "sandbox/launcher/isolation/landlock.h"
#include "sandbox/launcher/isolation/private_root.h"
#include "sandbox/launcher/isolation/seccomp_policy.h"
#include "sandbox/launcher/session/guest_protocol.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/supervisor/share.h"

namespace agon::sandbox::launcher {
namespace {

constexpr int kHandOver = 7;  // where the new process sends the number of seccomp's listener

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
                                    "PYTHONHASHSEED=0",  // sets have the same order in every launch
                                    "MPLBACKEND=Agg",
                                    nullptr};

// If sessions share the file system with others, each confines itself to these folders and its own.
std::string harness_for(const TemplateConfig& config, const Walls& walls) {
  const Json readable = walls.has_namespaces() ? Json::array() : Json(walls.readable);
  return fmt::format("{}\npreload({})\nserve_sandbox({}, {})\n", kHarness, Json(config.modules).dump(),
                     Json(walls.has_namespaces() ? kHome : walls.folder).dump(), readable.dump());
}

// The files that the template may access. Its sessions may not have /proc, where they would see others.
LandlockRules rules_for(const Walls& walls) {
  if (walls.has_namespaces()) return {{"/"}, {"/dev"}, {"/home"}};
  LandlockRules rules{walls.readable, device_files(), {walls.folder}};
  rules.readable.emplace_back("/proc");
  return rules;
}

// Lowers a limit to `value` at most; a lower hard limit stays.
void limit(__rlimit_resource resource, rlim_t value) {
  rlimit had{};
  checked(getrlimit(resource, &had), "getrlimit");
  const rlimit both{std::min(value, had.rlim_max), std::min(value, had.rlim_max)};
  checked(setrlimit(resource, &both), "setrlimit");
}

void place(int from, int to) { checked(from == to ? fcntl(from, F_SETFD, 0) : dup2(from, to), "dup2"); }

struct Ends {
  int channel, harness, library, gathered, errors, hand_over;
};

// Every number below 10 is free, because the descriptors were moved up first.
void arrange_descriptors(const Ends& ends) {
  const auto up = [](int descriptor) { return checked(fcntl(descriptor, F_DUPFD, 10), "dup"); };
  const Ends high{up(ends.channel),  up(ends.harness), up(ends.library),
                  up(ends.gathered), up(ends.errors),  up(ends.hand_over)};
  const int null = up(checked(open("/dev/null", O_RDWR), "/dev/null"));
  place(null, 0);
  place(null, 1);
  place(high.errors, 2);
  place(high.channel, kGuestChannel);
  place(high.harness, kGuestHarness);
  place(high.library, kGuestLibrary);
  place(high.gathered, kGuestGathered);
  place(high.hand_over, kHandOver);
  checked(static_cast<int>(syscall(SYS_close_range, kHandOver + 1, ~0u, 0)), "close_range");
}

[[noreturn]] void become_template(const TemplateConfig& config, const Walls& walls, const Ends& ends) {
  const std::string filter = seccomp_program(walls.has_namespaces());
  arrange_descriptors(ends);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  take_own_share();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  limit(RLIMIT_CORE, 1);  // 0 prevents core files; 1 also keeps the host's crash handler out
  limit(RLIMIT_NOFILE, 512);
  limit(RLIMIT_MEMLOCK, 64 << 10);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_SIGPENDING, 256);
  drop_capabilities();
  checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  restrict_files(rules_for(walls));
  {
    // The filter allows no sending of descriptors, so the parent takes it from here. For that, this process must be
    // dumpable. No guest exists yet.
    checked(prctl(PR_SET_DUMPABLE, 1), "prctl");
    const int listener = install_seccomp(filter);
    checked(write(kHandOver, &listener, sizeof listener), "handing the listener over");
    char taken = 0;
    checked(read(kHandOver, &taken, 1), "handing the listener over");
    close(listener);
  }
  close(kHandOver);
  const char* const arguments[] = {config.interpreter.c_str(), "-s", "-c",
                                   "exec(compile(open(4).read(), 'agon-sandbox', 'exec'))", nullptr};
  execve(config.interpreter.c_str(), const_cast<char**>(arguments), const_cast<char**>(kEnvironment));
  checked(-1, "starting " + config.interpreter);
  _exit(1);
}

}  // namespace

Template start_template(const TemplateConfig& config, const Walls& walls) {
  Template started;
  Descriptor channel;
  std::tie(started.channel, channel) = GuestChannel::make();
  const Descriptor harness = memory_file("harness", harness_for(config, walls)),
                   gathered = memory_file("libraries", "");
  Pipe errors = make_pipe();
  started.errors = std::move(errors.reading);
  SocketPair hand_over = make_socket_pair(SOCK_STREAM);
  started.process = checked(fork(), "fork");
  if (started.process == 0) {
    try {
      become_template(
          config, walls,
          {channel.get(), harness.get(), config.library, gathered.get(), errors.writing.get(), hand_over.theirs.get()});
    } catch (const std::exception& error) {
      const std::string text = std::string(error.what()) + "\n";
      if (write(2, text.data(), text.size()) < 0) _exit(2);
      _exit(1);
    }
  }
  hand_over.theirs.reset();
  int listener = -1;
  if (read(hand_over.ours.get(), &listener, sizeof listener) != sizeof listener) return started;  // its stderr says why
  const Descriptor process(static_cast<int>(checked(syscall(SYS_pidfd_open, started.process, 0), "pidfd_open")));
  started.questions = Descriptor(
      static_cast<int>(checked(syscall(SYS_pidfd_getfd, process.get(), listener, 0), "taking the listener over")));
  checked(write(hand_over.ours.get(), "t", 1), "taking the listener over");
  return started;
}

}  // namespace agon::sandbox::launcher
