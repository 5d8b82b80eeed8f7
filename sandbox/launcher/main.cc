// agon-sandbox CONTROL: builds the isolation, then serves the host on the socket with that descriptor
// (docs/sandbox.md). Not for people: `agon exec` is.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/frame.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/supervisor.h"
#include "sandbox/launcher/template.h"

namespace agon::sandbox::launcher {
namespace {

struct Config {
  TemplateConfig made;
  std::vector<std::string> readable;
};

void send_json(const Descriptor& socket, const Json& message) {
  const std::vector<std::uint8_t> bytes = Json::to_cbor(message);
  const std::string frame = make_frame({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  checked(send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL), "answering the host");
}

std::optional<Json> receive_json(const Descriptor& socket) {
  FrameReader reader(1 << 20);
  char byte = 0;
  while (recv(socket.get(), &byte, 1, 0) == 1) {
    reader.feed({&byte, 1});
    if (const auto payload = reader.next()) return Json::from_cbor(*payload);
  }
  return std::nullopt;
}

// Whether this user namespace knows the host's user `id`.
bool is_mapped(unsigned long id) {
  std::ifstream map("/proc/self/uid_map");
  unsigned long inside = 0, outside = 0, count = 0;
  while (map >> inside >> outside >> count)
    if (id >= inside && id - inside < count) return true;
  return false;
}

// Root lends the sandbox a user that nobody else is; others have only themselves.
unsigned long outer_user() {
  if (geteuid() != 0) return geteuid();
  for (const unsigned long id : {1'879'048'193ul, 65'534ul})
    if (is_mapped(id)) return id;
  throw Error(
      "root has no other user to lend to the sandbox: this container maps neither 1879048193 nor 65534. Run as an "
      "ordinary user");
}

void write_text(const std::string& path, const std::string& text) {
  const Descriptor file(checked(open(path.c_str(), O_WRONLY | O_CLOEXEC), "opening " + path));
  checked(write(file.get(), text.data(), text.size()), "writing " + path);
}

void become_agent() {
  const auto agent = 1000;
  if (geteuid() == agent && getegid() == agent) return;
  checked(prctl(PR_SET_KEEPCAPS, 1), "prctl");
  checked(syscall(SYS_setresgid, agent, agent, agent), "setresgid");
  checked(syscall(SYS_setresuid, agent, agent, agent), "setresuid");
}

std::string read_all(int descriptor) {
  std::string text;
  char piece[4096];
  ssize_t got = 0;
  while ((got = read(descriptor, piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(got));
  return text;
}

// Throws Error with what the interpreter said when it does not come up.
void wait_until_ready(Template& made) {
  bool ready = false, open = true;
  while (open && !ready) {
    pollfd waits{made.channel.get(), POLLIN, 0};
    if (poll(&waits, 1, 60'000) == 0) throw Error("the interpreter did not start within 60 s");
    open = made.channel.receive([&](pid_t, std::string_view payload) { ready = ready || payload == "h"; });
  }
  if (ready) return made.errors.reset();
  const std::string said = read_all(made.errors.get());
  const std::string_view lines = trim(said);
  throw Error("the interpreter did not start: {}",
              lines.empty() ? "it said nothing" : lines.substr(lines.rfind('\n') + 1));
}

// Ends this process when its parent ends, which holds the other end of `parent` open. A change of user forgets the
// request.
void die_with(const Descriptor& parent) {
  checked(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
  pollfd closed{parent.get(), POLLIN, 0};
  if (poll(&closed, 1, 0) != 0) _exit(1);  // it ended before
}

// In the new namespaces, as their first process.
void serve(Descriptor& control, const Config& config, const Descriptor& parent) {
  become_agent();
  die_with(parent);
  enter_private_root(config.readable);
  checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  Template made = start_template(config.made);
  wait_until_ready(made);
  send_json(control, {{"event", "ready"}, {"tier", "B"}});
  supervise(std::move(control), std::move(made), Tier::b);
}

// A file that outlives the change of roots.
Descriptor memory_copy(const std::string& path) {
  const Descriptor file(checked(open(path.c_str(), O_RDONLY | O_CLOEXEC), "opening " + path));
  const std::string bytes = read_all(file.get());
  Descriptor copy(static_cast<int>(checked(syscall(SYS_memfd_create, "guest", MFD_CLOEXEC), "memfd_create")));
  checked(write(copy.get(), bytes.data(), bytes.size()), "copying " + path);
  return copy;
}

Config config_of(const Json& request, const Descriptor& library) {
  if (weaker(Tier::b, tier_from(request.at("floor").get<std::string>())))
    throw Error(
        "tier A is asked for, and this version reaches tier B: it keeps limits without cgroups (docs/sandbox.md). "
        "Lower the floor");
  if (weaker(tier_from(request.at("best").get<std::string>()), Tier::b))
    throw Error("there is no tier C in this version (docs/sandbox.md)");
  return {{request.at("interpreter"), request.at("modules"), library.get()}, request.at("readable")};
}

pid_t start_in_namespaces(const std::function<void()>& work) {
  const unsigned long flags =
      CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
  const long child = syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
  if (child < 0)
    throw Error(
        "tier B needs namespaces of its own, which this machine refuses: {}. See user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or the container's seccomp "
        "profile",
        std::strerror(errno));
  if (child == 0) {
    work();
    _exit(0);
  }
  return static_cast<pid_t>(child);
}

void map_user(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/", process);
  write_text(folder + "setgroups", "deny");
  write_text(folder + "uid_map", fmt::format("1000 {} 1", outer_user()));
  write_text(folder + "gid_map", fmt::format("1000 {} 1", geteuid() == 0 ? outer_user() : getegid()));
}

void say_failed(const Descriptor& control, const std::exception& error) {
  send_json(control, {{"event", "failed"}, {"text", error.what()}});
}

int run(Descriptor control) {
  const auto request = receive_json(control);
  if (!request) return 0;
  pid_t child = 0;
  int ends[2];
  checked(pipe2(ends, O_CLOEXEC), "pipe");
  Descriptor mapped(ends[0]);
  const Descriptor alive(ends[1]);
  try {
    const Descriptor library =
        memory_copy(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libagon_guest.so");
    const Config config = config_of(*request, library);
    child = start_in_namespaces([&] {
      close(alive.get());
      char byte = 0;
      if (read(mapped.get(), &byte, 1) != 1) _exit(1);
      try {
        serve(control, config, mapped);
      } catch (const std::exception& error) {
        say_failed(control, error);
      }
    });
    map_user(child);
    checked(write(alive.get(), "1", 1), "starting");
  } catch (const std::exception& error) {
    say_failed(control, error);
    return 1;
  }
  control.reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace
}  // namespace agon::sandbox::launcher

int main(int count, char** arguments) {
  using namespace agon::sandbox::launcher;
  if (count != 2) {
    fmt::print(stderr, "agon-sandbox is started by agon; to run code in a sandbox: agon exec FILE.py\n");
    return 2;
  }
  try {
    return run(Descriptor(std::atoi(arguments[1])));
  } catch (const std::exception& error) {
    fmt::print(stderr, "agon-sandbox: {}\n", error.what());
    return 1;
  }
}
