#include "sandbox/launcher/backend.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "sandbox/launcher/private_root.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"
#include "sandbox/launcher/tiers.h"

namespace agon::sandbox::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInside = "/opt/agon-sandbox";  // where the launcher lies inside
constexpr int kControl = 3;
constexpr const char* kImage = "localhost/agon-sandbox-root:1";

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// Replaces this process; returns when there is no such program.
void execute(const Words& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  char* const environment[] = {path, nullptr};
  putenv(path);
  execvpe(arguments[0], arguments.data(), environment);
}

// Its exit code, or 127 when there is none; its output goes nowhere.
int run_quietly(const Words& command, const Descriptor& input) {
  const pid_t child = checked(fork(), "fork");
  if (child == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(input ? input.get() : null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execute(command);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

// A tar archive of the links that stand for folders in /usr: 512 bytes each, and two empty blocks.
std::string root_archive() {
  std::string archive;
  for (const RootLink& link : root_links()) {
    if (link.target.starts_with("/")) continue;  // not into /usr
    std::array<char, 512> header{};
    const std::string name = link.name.substr(1);
    std::copy(name.begin(), name.end(), header.begin());
    std::copy(link.target.begin(), link.target.end(), header.begin() + 157);
    fmt::format_to_n(header.begin() + 100, 7, "0000777");
    for (const int at : {108, 116}) fmt::format_to_n(header.begin() + at, 7, "0000000");
    for (const int at : {124, 136}) fmt::format_to_n(header.begin() + at, 11, "00000000000");
    header[156] = '2';  // a symbolic link
    fmt::format_to_n(header.begin() + 257, 8, "ustar  ");
    std::fill_n(header.begin() + 148, 8, ' ');
    unsigned sum = 0;
    for (const char letter : header) sum += static_cast<unsigned char>(letter);
    fmt::format_to_n(header.begin() + 148, 7, "{:06o}\0", sum);
    archive.append(header.data(), header.size());
  }
  return archive + std::string(1024, '\0');
}

void make_image(const std::string& engine) {
  if (run_quietly({engine, "image", "inspect", kImage}, {}) == 0) return;
  const int made = run_quietly({engine, "import", "-", kImage}, memory_file("root", root_archive()));
  if (made == 127) throw Error("there is no {} on this machine: install it, or use another backend", engine);
  if (made != 0) throw Error("no engine answers to {}: is its service running, and may this user reach it?", engine);
}

void inherit(int from, int to) { checked(from == to ? fcntl(from, F_SETFD, 0) : dup2(from, to), "dup2"); }

}  // namespace

Words bwrap_command(const Contained& contained) {
  Words words = {"bwrap",
                 "--unshare-user",
                 "--unshare-pid",
                 "--unshare-net",
                 "--unshare-ipc",
                 "--unshare-uts",
                 "--uid",
                 "1000",
                 "--gid",
                 "1000",
                 "--as-pid-1",
                 "--new-session",
                 "--die-with-parent",
                 "--clearenv",
                 "--cap-drop",
                 "ALL",
                 "--proc",
                 "/proc"};
  for (const std::string& path : program_folders(contained.readable)) add(words, {"--ro-bind", path, path});
  for (const std::string& path : device_files()) add(words, {"--dev-bind", path, path});
  for (const RootLink& link : root_links()) add(words, {"--symlink", link.target, link.name});
  for (const char* name : {"/run", "/var", kHome}) add(words, {"--dir", name});
  add(words, {"--ro-bind", contained.launcher, kInside, "--remount-ro", "/"});
  add(words, {"--", std::string(kInside) + "/agon-sandbox", std::to_string(kControl), contained.request});
  return words;
}

Words engine_command(Backend engine, const Contained& contained, const std::string& image) {
  Words words = {std::string(to_string(engine)),
                 "run",
                 "--rm",
                 "--interactive",
                 "--network",
                 "none",
                 "--cap-drop",
                 "ALL",
                 "--security-opt",
                 "no-new-privileges",
                 "--read-only",
                 "--user",
                 "1000:1000",
                 "--tmpfs",
                 "/tmp:rw,nosuid,nodev,mode=1777",
                 "--log-driver",
                 "none"};
  for (const std::string& path : program_folders(contained.readable))
    add(words, {"--volume", path + ":" + path + ":ro"});
  add(words, {"--volume", contained.launcher + ":" + kInside + ":ro"});
  add(words, {image, std::string(kInside) + "/agon-sandbox", "-", contained.request});
  return words;
}

void become_backend(Backend backend, const Contained& contained, const Descriptor& control) {
  const std::string name(to_string(backend));
  if (backend == Backend::bwrap) {
    become_outer_user();
    inherit(control.get(), kControl);
    execute(bwrap_command(contained));
    throw Error("there is no bwrap on this machine: apt install bubblewrap, or use another backend");
  }
  make_image(name);
  inherit(control.get(), 0);
  inherit(control.get(), 1);
  execute(engine_command(backend, contained, kImage));
  throw Error("{} could not be started: {}", name, std::strerror(errno));
}

Descriptor control_from_standard_streams() {
  SocketPair pair = make_socket_pair(SOCK_STREAM);
  const pid_t child = checked(fork(), "fork");
  if (child != 0) return std::move(pair.theirs);
  pair.theirs.reset();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int socket = pair.ours.get();
  pollfd waits[2] = {{0, POLLIN, 0}, {socket, POLLIN, 0}};
  std::array<char, 1 << 16> piece;
  while (poll(waits, 2, -1) >= 0) {
    for (const auto& [from, to] : {std::pair(0, socket), std::pair(socket, 1)}) {
      if (waits[from == 0 ? 0 : 1].revents == 0) continue;
      const ssize_t got = read(from, piece.data(), piece.size());
      if (got <= 0) _exit(0);
      for (ssize_t at = 0; at < got;) {
        const ssize_t put = write(to, piece.data() + at, static_cast<std::size_t>(got - at));
        if (put <= 0) _exit(0);
        at += put;
      }
    }
  }
  _exit(0);
}

}  // namespace agon::sandbox::launcher
