#include "core/image_decoder.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/decoder/protocol.h"
#include "core/descriptor.h"
#include "core/error.h"

namespace agon {
namespace {

using Clock = std::chrono::steady_clock;
using decoder::Reply;
using decoder::Request;

constexpr std::uint64_t kMostBytesAtOnce = 1ull << 30;
constexpr int kSocketBuffer = 1 << 20;

// How long a decoder may take before it counts as stuck: its CPU time has its own bound, the load of the machine has
// none.
std::chrono::duration<double> patience(double cpu_seconds) {
  return std::chrono::duration<double>(60 + 10 * cpu_seconds);
}

// Next to this program, or, for programs in other folders of a build, where the build puts it.
std::string decoder_path() {
  std::error_code code;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  for (const auto& path : {here / "agon-decode", here.parent_path() / "cli" / "agon-decode"})
    if (std::filesystem::exists(path, code)) return path;
  throw NoDecoder("pictures: there is no decoder at {}. Run script/build.", (here / "agon-decode").string());
}

// The process ended, and was not asked to.
struct Ended {};

// A decoder process and the socket to it.
class Worker {
 public:
  Worker();
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
  // Whole, or throws Ended.
  void send(const void* bytes, std::size_t count);
  void receive(void* bytes, std::size_t count);
  bool overdue() const { return overdue_; }
  // Ends it and returns its wait status; nothing if somebody else took that.
  std::optional<int> end();

 private:
  void wait_for(short event);
  Descriptor socket_;
  pid_t process_ = -1;
  const pid_t owner_ = ::getpid();  // a copy of this process, by fork(), ends nothing
  Clock::time_point deadline_;
  bool overdue_ = false;
};

// With the socket as its standard input, nothing else open, no environment, and no signal from the terminal.
pid_t spawn(const std::string& path, int socket) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, 0);
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
  std::string name = "agon-decode", libraries;
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
  if (failure != 0) throw Error("pictures: the decoder {} cannot be started: {}", path, std::strerror(failure));
  return process;
}

Worker::Worker() {
  const std::string path = decoder_path();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error("pictures: no socket to a decoder: {}", std::strerror(errno));
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  for (const int end : ends) {
    ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof(kSocketBuffer));
    ::setsockopt(end, SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof(kSocketBuffer));
  }
  process_ = spawn(path, theirs.get());
}

std::optional<int> Worker::end() {
  if (process_ < 0) return {};
  socket_.reset();
  if (::getpid() != owner_) return {};
  ::kill(process_, SIGKILL);  // one that is ending by itself keeps the status that it ends with
  int status = 0;
  pid_t ended = -1;
  do ended = ::waitpid(process_, &status, 0);
  while (ended < 0 && errno == EINTR);
  process_ = -1;
  return ended < 0 ? std::nullopt : std::optional(status);
}

void Worker::wait_for(short event) {
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

void Worker::send(const void* bytes, std::size_t count) {
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

void Worker::receive(void* bytes, std::size_t count) {
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

// The workers of this process: at most one a processor, and at most so many bytes of pictures at once.
class Pool {
 public:
  static Pool& of_process() {
    static Pool pool;
    return pool;
  }

  // A place among the busy ones, and a worker, which goes back into the pool unless it was discarded.
  class Turn {
   public:
    explicit Turn(std::uint64_t bytes) : bytes_(bytes), worker_(of_process().take(bytes)), used_(worker_ != nullptr) {}
    ~Turn() { of_process().put(bytes_, std::move(worker_)); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Worker& worker() {  // throws Error if none can be started
      if (!worker_) worker_ = std::make_unique<Worker>();
      return *worker_;
    }
    bool used() const { return used_; }  // it decoded another picture before
    std::unique_ptr<Worker> discard() {
      used_ = false;
      return std::move(worker_);
    }

   private:
    const std::uint64_t bytes_;
    std::unique_ptr<Worker> worker_;
    bool used_;
  };

 private:
  // An idle worker; none: one may be started.
  std::unique_ptr<Worker> take(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return busy_ == 0 || (busy_ < most_ && bytes_ + bytes <= kMostBytesAtOnce); });
    ++busy_;
    bytes_ += bytes;
    if (idle_.empty()) return nullptr;
    std::unique_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  void put(std::uint64_t bytes, std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    --busy_;
    bytes_ -= bytes;
    if (worker) idle_.push_back(std::move(worker));
    room_.notify_all();
  }

  const std::size_t most_ = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<std::unique_ptr<Worker>> idle_;
  std::size_t busy_ = 0;
  std::uint64_t bytes_ = 0;
};

std::uint64_t encoded_bytes(const ImageHeader& header) {
  std::uint64_t bytes = header.lead.size();
  for (const auto& part : header.parts) bytes += part.size();
  return bytes;
}

// What a library said about the picture; it may quote the picture's bytes.
std::string plain(std::string text) {
  for (char& letter : text)
    if (letter < 0x20 || letter > 0x7E) letter = '?';
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// Ends the worker if it still runs, and says what its end means for its picture.
std::string why_ended(Worker& worker, double seconds) {
  const bool overdue = worker.overdue();
  const std::optional<int> status = worker.end();
  if (overdue)
    return fmt::format("the picture's decoder did not answer within {:g} s and was ended. Is the machine overloaded?",
                       patience(seconds).count());
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGPROF)
    return fmt::format(
        "decoding the picture takes more than {:g} s of CPU time. Save it anew as a PNG or a baseline JPEG.", seconds);
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == decoder::kNotShutIn)
    return "the picture decoder could not lock itself down. Does this machine or container forbid seccomp or rlimits?";
  return fmt::format("the picture is damaged: its decoder ended{}.",
                     status && WIFSIGNALED(*status) ? fmt::format(" by signal {}", WTERMSIG(*status)) : "");
}

Image read_reply(Worker& worker, const ImageHeader& header, const std::string& name, bool keep_pixels) {
  Reply reply;
  worker.receive(&reply, sizeof(reply));
  if (!reply.decoded) {
    std::string why(std::min(reply.bytes, decoder::kMostErrorBytes), '\0');
    worker.receive(why.data(), why.size());
    throw Error("{}: the picture is damaged and cannot be decoded: {}.", name, plain(std::move(why)));
  }
  const bool sides_change = header.orientation >= 5;
  const std::uint64_t width = sides_change ? header.height : header.width;
  const std::uint64_t height = sides_change ? header.width : header.height;
  if (reply.width != width || reply.height != height || reply.bytes != (keep_pixels ? width * height * 3 : 0))
    throw Ended();
  if (!keep_pixels) return {};
  std::vector<std::uint8_t> rgb(reply.bytes);
  worker.receive(rgb.data(), rgb.size());
  return Image(static_cast<int>(width), static_cast<int>(height), std::move(rgb));
}

}  // namespace

std::uint64_t decode_bytes(const ImageHeader& header) {
  constexpr std::uint64_t kBothEnds = 6;  // RGB there, and RGB here
  return header.width * header.height * std::max(header.bytes_per_pixel, kBothEnds);
}

Image decode_apart(const ImageHeader& header, const std::string& name, const ImageLimits& limits, bool keep_pixels) {
  Request request;
  request.format = static_cast<std::uint32_t>(header.format);
  request.width = static_cast<std::uint32_t>(header.width);
  request.height = static_cast<std::uint32_t>(header.height);
  request.left = static_cast<std::uint32_t>(header.left);
  request.top = static_cast<std::uint32_t>(header.top);
  request.coded_width = static_cast<std::uint32_t>(header.coded_width ? header.coded_width : header.width);
  request.coded_height = static_cast<std::uint32_t>(header.coded_height ? header.coded_height : header.height);
  request.orientation = static_cast<std::uint32_t>(header.orientation);
  request.wants_pixels = keep_pixels;
  request.milliseconds = static_cast<std::uint32_t>(std::clamp(limits.cpu_seconds, 0.001, 1e6) * 1000);
  request.encoded_bytes = encoded_bytes(header);
  request.memory = header.width * header.height * header.bytes_per_pixel;
  Pool::Turn turn(decode_bytes(header) + request.encoded_bytes);
  for (;;) {
    try {
      turn.worker().set_deadline(Clock::now() +
                                 std::chrono::duration_cast<Clock::duration>(patience(limits.cpu_seconds)));
      turn.worker().send(&request, sizeof(request));
      turn.worker().send(header.lead.data(), header.lead.size());
      for (const auto& part : header.parts) turn.worker().send(part.data(), part.size());
      return read_reply(turn.worker(), header, name, keep_pixels);
    } catch (const Ended&) {
      const bool used = turn.used();
      const std::unique_ptr<Worker> ended = turn.discard();
      const std::string why = why_ended(*ended, limits.cpu_seconds);
      if (!used || ended->overdue()) throw Error("{}: {}", name, why);
      // Anybody may have ended a worker that was idle: a fresh one shows whether the picture is to blame.
    } catch (...) {
      turn.discard();
      throw;
    }
  }
}

}  // namespace agon
