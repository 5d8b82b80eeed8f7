#include "sandbox/launcher/isolation/container.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "sandbox/launcher/isolation/isolation.h"
#include "sandbox/launcher/isolation/private_root.h"
#include "sandbox/launcher/small_file.h"
#include "sandbox/launcher/sockets.h"

namespace agon::sandbox::launcher {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInside = "/opt/agon-sandbox";  // folder of the launcher inside
constexpr int kControl = 3;
constexpr const char* kImage = "localhost/agon-sandbox-root:1";
constexpr int kNotStarted = 127;  // exit code, as in a shell
constexpr std::size_t kMostSaid = 2000;
constexpr rlim_t kMostOfEach = 1 << 14;  // descriptors, and processes of the user, in an engine's container

using Words = std::vector<std::string>;

void add(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// The words in the form of execve(); they stay the caller's.
std::vector<char*> pointers(const Words& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

// Our descriptors, and their numbers in the started program.
using Places = std::vector<std::pair<int, int>>;

void put(int from, int to) {
  if ((from == to ? fcntl(from, F_SETFD, 0) : dup2(from, to)) < 0) _exit(kNotStarted);
}

// Runs in the child. It ends with its parent, so that no engine's client outlives the launcher.
[[noreturn]] void become(const Words& command, const Words& environment, const Places& places, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  for (const auto& [from, to] : places) put(from, to);
  for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));  // PATH, for execvp
  execvp(command.front().c_str(), pointers(command).data());
  _exit(kNotStarted);
}

struct Ended {
  int code = 0;
  std::string said;  // on stderr
  bool not_started() const { return code == kNotStarted && said.empty(); }
};

// The end of the text, in one line.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const std::string& word : split_words(valid_utf8(text.substr(text.size() - std::min(text.size(), kMostSaid)))))
    line += (line.empty() ? "" : " ") + word;
  return line;
}

// Runs a program to its end. A standard stream without a descriptor reads nothing and writes nowhere.
Ended run_program(const Words& command, const Words& environment, const Places& places) {
  const Descriptor null(checked(open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null"));
  const Descriptor words = memory_file("words", "");
  Places all = places;
  all.insert(all.end(), {{words.get(), 2}});
  for (const int standard : {0, 1})
    if (std::none_of(places.begin(), places.end(), [&](const auto& place) { return place.second == standard; }))
      all.emplace_back(null.get(), standard);
  const pid_t parent = getpid(), child = checked(fork(), "fork");
  if (child == 0) become(command, environment, all, parent);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  checked(lseek(words.get(), 0, SEEK_SET), "lseek");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), in_one_line(read_all(words.get()))};
}

// The error that says what the backend cannot do, with its own output.
Error refusal(const std::string& name, const char* what, const Ended& ended) {
  if (ended.not_started()) return Error("there is no {} on the PATH: install it, or use another backend", name);
  const std::string why = ended.said.empty() ? fmt::format("none (it ended with code {})", ended.code) : ended.said;
  return Error(
      "{} cannot {} here; fix this for the current user, or use another backend, such as native. Its output: {}", name,
      what, why);
}

// A tar archive of the links that stand for folders in /usr: 512 bytes each, and two empty blocks.
std::string root_archive() {
  std::string archive;
  for (const RootLink& link : root_links()) {
    if (link.target.starts_with("/")) continue;  // skip links that do not lead into /usr
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

void make_image(const std::string& engine, const Words& environment) {
  if (run_program({engine, "image", "inspect", kImage}, environment, {}).code == 0) return;
  const Descriptor archive = memory_file("root", root_archive());
  const Ended made = run_program({engine, "import", "-", kImage}, environment, {{archive.get(), 0}});
  if (made.code != 0) throw refusal(engine, "make an image", made);
}

// Engines request more than a container around them may grant, so request no more than this process has.
std::string ulimit(const char* name, decltype(RLIMIT_NOFILE) resource) {
  rlimit own{};
  checked(getrlimit(resource, &own), "getrlimit");
  return fmt::format("{}={}", name, std::min<rlim_t>(own.rlim_max, kMostOfEach));
}

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
                 "none",
                 "--ulimit",
                 ulimit("nofile", RLIMIT_NOFILE),
                 "--ulimit",
                 ulimit("nproc", RLIMIT_NPROC)};
  for (const std::string& path : program_folders(contained.readable))
    add(words, {"--volume", path + ":" + path + ":ro"});
  add(words, {"--volume", contained.launcher + ":" + kInside + ":ro"});
  add(words, {image, std::string(kInside) + "/agon-sandbox", "-", contained.request});
  return words;
}

void run_backend(Backend backend, const Contained& contained, const Words& environment, const Descriptor& control) {
  const std::string name(to_string(backend));
  checked(fcntl(control.get(), F_SETFD, FD_CLOEXEC), "fcntl");  // the program gets it only as one of `places`
  Words command;
  Places places;
  if (backend == Backend::bwrap) {
    become_outer_user();
    command = bwrap_command(contained);
    places = {{control.get(), kControl}};
  } else {
    make_image(name, environment);
    command = engine_command(backend, contained, kImage);
    places = {{control.get(), 0}, {control.get(), 1}};
  }
  const Ended ended = run_program(command, environment, places);
  if (ended.code != 0) throw refusal(name, "start a sandbox", ended);
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
