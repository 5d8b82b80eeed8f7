// agon-sandbox, the launcher: builds the isolation, then serves the host on the socket given by its argument
// (docs/sandbox.md). Users run `agon exec` instead.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "sandbox/frame.h"
#include "sandbox/launcher/isolation/container.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/isolation/template.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/supervisor/errand.h"
#include "sandbox/launcher/supervisor/supervisor.h"
#include "sandbox/message.h"

namespace agon::sandbox::launcher {
namespace {

void send_json(const Descriptor& socket, const Json& message) {
  const std::string frame = message_frame(message);
  checked(send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL), "answering the host");
}

std::optional<Json> receive_json(const Descriptor& socket) {
  FrameReader reader(1 << 20);
  char byte = 0;
  while (recv(socket.get(), &byte, 1, 0) == 1) {
    reader.feed({&byte, 1});
    if (const auto payload = reader.next()) return read_message(*payload);
  }
  return std::nullopt;
}

// Throws Error with the interpreter's output if it does not start.
void wait_until_ready(Template& made) {
  bool ready = false, open = true;
  while (open && !ready) {
    pollfd waits{made.channel.get(), POLLIN, 0};
    if (poll(&waits, 1, 180'000) == 0) throw Error("the interpreter did not start within 180 s");
    open = made.channel.receive([&](pid_t, std::string_view payload) {
      ready = ready || payload == "h";
      return true;
    });
  }
  if (ready) return made.errors.reset();
  const std::string said = read_all(made.errors.get());
  const std::string_view lines = trim(said);
  throw Error("the interpreter did not start: {}",
              lines.empty() ? "it printed nothing" : lines.substr(lines.rfind('\n') + 1));
}

Json ready_message(const Walls& walls, const std::vector<MissedTier>& missed) {
  Json message = {{"event", "ready"}, {"tier", to_string(walls.tier)}, {"room", walls.room}, {"missed", Json::array()}};
  for (const MissedTier& one : missed) message["missed"].push_back({{"tier", to_string(one.tier)}, {"why", one.why}});
  return message;
}

// If the host has ended, nothing is sent.
void say_failed(const Descriptor& control, const std::exception& error) {
  const std::string frame = message_frame({{"event", "failed"}, {"text", error.what()}});
  send(control.get(), frame.data(), frame.size(), MSG_NOSIGNAL);
}

// Runs inside the isolation.
void serve(Descriptor& control, const TemplateConfig& config, const Walls& walls,
           const std::vector<MissedTier>& missed) {
  try {
    Template made = start_template(config, walls);
    wait_until_ready(made);
    send_json(control, ready_message(walls, missed));
    supervise(std::move(control), std::move(made), walls);
  } catch (const std::exception& error) {
    if (control) say_failed(control, error);
  }
}

std::string own_folder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

// A copy of the library in memory, which a change of root does not affect.
Descriptor guest_library() {
  const std::string path = own_folder() + "/libagon_guest.so";
  const Descriptor file(checked(open(path.c_str(), O_RDONLY | O_CLOEXEC), "opening " + path));
  return memory_file("guest", read_all(file.get()));
}

void build_walls(Descriptor& control, const Json& request, bool contained) {
  const Descriptor library = guest_library();
  const TemplateConfig config{request.at("interpreter"), request.at("modules"), library.get()};
  WantedTiers wanted{tier_from(request.at("best").get<std::string>()),
                     tier_from(request.at("floor").get<std::string>()), request.at("readable"), contained};
  run_behind_walls(
      wanted, [&](const Walls& walls, const std::vector<MissedTier>& missed) { serve(control, config, walls, missed); },
      [&] { control.reset(); });
}

// The launcher inside gets the request without the environment of the backend's program.
void start_within(Backend backend, Json request, const Descriptor& control) {
  const std::vector<std::string> environment = request.at("environment");
  request.erase("environment");
  run_backend(backend, {request.at("readable"), own_folder(), request.dump()}, environment, control);
}

int run(Descriptor control, std::optional<Json> request, bool contained) {
  try {
    if (!request) request = receive_json(control);
    if (!request) return 0;
    const Backend backend = backend_from(request->at("backend").get<std::string>());
    if (backend != Backend::native && !contained)
      start_within(backend, std::move(*request), control);
    else
      build_walls(control, *request, contained);
  } catch (const std::exception& error) {
    say_failed(control, error);
    return 1;
  }
  return 0;
}

// Signal settings inherited from the program that started this one must not reach sessions: with SIGCHLD ignored nobody
// could wait for a process, with SIGINT ignored no call could be interrupted.
void forget_inherited_settings() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
}

}  // namespace
}  // namespace agon::sandbox::launcher

// agon-sandbox CONTROL            started by agon
// agon-sandbox CONTROL REQUEST    started by a backend, inside its container; CONTROL - is the standard streams
int main(int count, char** arguments) {
  using namespace agon::sandbox::launcher;
  using agon::Descriptor;
  if (count != 2 && count != 3) {
    fmt::print(stderr, "agon-sandbox is started by agon; to run code in a sandbox: agon exec FILE.py\n");
    return 2;
  }
  try {
    Descriptor control =
        std::string_view(arguments[1]) == "-" ? control_from_standard_streams() : Descriptor(std::atoi(arguments[1]));
    forget_inherited_settings();
    // A limit of 1 keeps the host's crash handler from handling crashes of guests; 0 would not. Only root can raise the
    // limit again.
    const rlimit no_core{1, 1};
    setrlimit(RLIMIT_CORE, &no_core);
    // Closes every other descriptor inherited from the program that started this one.
    close_all_but({control.get()});
    if (count == 2) return run(std::move(control), std::nullopt, false);
    return run(std::move(control), agon::Json::parse(arguments[2]), true);
  } catch (const std::exception& error) {
    fmt::print(stderr, "agon-sandbox: {}\n", error.what());
    return 1;
  }
}
