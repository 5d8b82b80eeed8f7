#include "core/pictures/decoder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace agon {
namespace {

constexpr int kSocketBuffer = 1 << 20;

// The path next to this program or, for programs in other folders of a build, where the build puts it.
std::string path_of(const std::string& program, const std::string& what) {
  std::error_code code;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  for (const auto& path : {here / program, here.parent_path() / "cli" / program})
    if (std::filesystem::exists(path, code)) return path;
  throw NoDecoder("{}: there is no decoder at {}. Run script/build.", what, (here / program).string());
}

// Starts the program with the socket as standard input, the file as standard output, no other open files, no
// environment except LD_LIBRARY_PATH, and no signals from the terminal.
pid_t spawn(const std::string& path, const std::string& what, int socket, int file) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, 0);
  if (file >= 0)
    posix_spawn_file_actions_adddup2(&files, file, 1);
  else
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string name = std::filesystem::path(path).filename(), libraries;
  char* const arguments[] = {name.data(), nullptr};
  char* environment[] = {nullptr, nullptr};
  if (const char* folders = std::getenv("LD_LIBRARY_PATH")) {
    libraries = std::string("LD_LIBRARY_PATH=") + folders;
    environment[0] = libraries.data();
  }
  pid_t process = -1;
  const int failure = ::posix_spawn(&process, path.c_str(), &files, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw Error("{}: the decoder {} cannot be started: {}", what, path, std::strerror(failure));
  return process;
}

}  // namespace

DecoderProcess::DecoderProcess(const std::string& program, const std::string& what, int file) {
  const std::string path = path_of(program, what);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error("{}: no socket to a decoder: {}", what, std::strerror(errno));
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  for (const int end : ends) {
    ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof(kSocketBuffer));
    ::setsockopt(end, SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof(kSocketBuffer));
  }
  process_ = spawn(path, what, theirs.get(), file);
}

std::optional<int> DecoderProcess::end() {
  if (process_ < 0) return {};
  socket_.reset();
  if (::getpid() != owner_) return {};
  ::kill(process_, SIGKILL);  // a process that has ended by itself keeps its status
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(process_, &status, 0);
  while (ended < 0 && errno == EINTR);
  process_ = -1;
  return ended < 0 ? std::nullopt : std::optional(status);
}

void DecoderProcess::wait_for(short event) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    pollfd waiting{socket_.get(), event, 0};
    const int ready = left < 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left + 1, 1'000'000)));
    if (ready > 0) return;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && Clock::now() < deadline_) continue;
    overdue_ = true;
    throw Ended();
  }
}

void DecoderProcess::send(const void* bytes, std::size_t count) {
  for (const auto* from = static_cast<const char*>(bytes); count > 0;) {
    const ssize_t sent = ::send(socket_.get(), from, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      from += sent;
      count -= static_cast<std::size_t>(sent);
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(POLLOUT);
    } else if (sent == 0 || errno != EINTR) {
      throw Ended();
    }
  }
}

void DecoderProcess::receive(void* bytes, std::size_t count) {
  for (auto* to = static_cast<char*>(bytes); count > 0;) {
    const ssize_t received = ::recv(socket_.get(), to, count, MSG_DONTWAIT);
    if (received > 0) {
      to += received;
      count -= static_cast<std::size_t>(received);
    } else if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(POLLIN);
    } else if (received == 0 || errno != EINTR) {
      throw Ended();
    }
  }
}

}  // namespace agon
