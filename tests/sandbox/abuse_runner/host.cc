#include "tests/sandbox/abuse_runner/host.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "tests/sandbox/abuse_runner/launcher_processes.h"

namespace agon::sandbox::abuse {
namespace {

namespace fs = std::filesystem;

constexpr int kPort = 38571;

std::string secret() { return std::string(kCanary) + "/secret"; }

std::string settings() {
  std::string all;
  for (const char* name :
       {"kernel/core_pattern", "kernel/modprobe", "kernel/sysrq", "kernel/hostname", "vm/overcommit_memory"}) {
    std::ifstream file(std::string("/proc/sys/") + name);
    all += std::string(std::istreambuf_iterator<char>(file), {}) + "\n";
  }
  std::ifstream mounts("/proc/self/mountinfo");
  return all + std::string(std::istreambuf_iterator<char>(mounts), {});
}

// Cases give this name to processes that they might leave behind; CTest never runs two such cases at once.
std::vector<std::string> left_processes() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    for (const char* part : {"comm", "cmdline"}) {
      const std::string text = text_of(entry.path() / part);  // empty if the process has ended
      if (text.starts_with("agon-abuse") || text.find(std::string(1, '\0') + "agon-abuse") != std::string::npos)
        found.push_back(entry.path().filename());
    }
  }
  return found;
}

}  // namespace

Host::Host() {
  if (fs::create_directories(kCanary)) fs::permissions(kCanary, fs::perms::all);
  if (!fs::exists(secret())) std::ofstream(secret()) << kSecret;  // cases run in parallel, as root and as others
  // Descriptors that the program which starts a launcher left open; the launcher must inherit neither.
  for (const std::string& path : {secret(), std::string(kCanary)}) descriptors_.push_back(open(path.c_str(), O_RDONLY));
  setenv("AGON_ABUSE_SECRET", kSecret, 1);
  listen_on_port();
  listen_on_name();
  settings_ = settings();
}

Host::~Host() {
  for (const int socket : sockets_) close(socket);
  for (const int descriptor : descriptors_) close(descriptor);
}

std::vector<std::string> Host::faults(bool names_processes) const {
  std::vector<std::string> found;
  if (read_file(secret()) != kSecret) found.emplace_back("the canary file was changed");
  for (const auto& entry : fs::directory_iterator(kCanary))
    if (entry.path().filename() != "secret") found.push_back("there is a new file " + entry.path().string());
  if (settings() != settings_) found.emplace_back("settings of the kernel were changed");
  for (const int socket : sockets_)
    if (accept4(socket, nullptr, nullptr, SOCK_NONBLOCK) >= 0)
      found.emplace_back("somebody reached a socket of the host");
  if (!names_processes) return found;
  for (const std::string& name : left_processes()) found.push_back("a process is left: " + name);
  return found;
}

void Host::keep(int socket) {
  if (listen(socket, 8) != 0) throw Error("abuse: no canary socket: {}", std::strerror(errno));
  sockets_.push_back(socket);
}

void Host::listen_on_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) keep(socket);
}

void Host::listen_on_name() {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  constexpr std::string_view kName = "agon-abuse-canary";
  std::copy(kName.begin(), kName.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + kName.size());
  if (bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0)
    keep(socket);
  else
    close(socket);  // another case is running and watches this name
}

}  // namespace agon::sandbox::abuse
