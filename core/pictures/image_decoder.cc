#include "core/pictures/image_decoder.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "core/decoder/protocol.h"
#include "core/error.h"

namespace agon {
namespace {

using Clock = DecoderProcess::Clock;
using decoder::Reply;
using decoder::Request;

constexpr std::uint64_t kMostBytesAtOnce = 1ull << 30;

// The time after which a decoder counts as stuck. Its CPU time has its own limit, but the machine's load has none.
std::chrono::duration<double> patience(double cpu_seconds) {
  return std::chrono::duration<double>(60 + 10 * cpu_seconds);
}

using Worker = DecoderProcess;
using Ended = DecoderProcess::Ended;

// The workers of this process: at most one per processor, 16 in all, and at most kMostBytesAtOnce for their pictures.
class Pool {
 public:
  static Pool& of_process() {
    static Pool pool;
    return pool;
  }

  // A place among the busy workers, and its worker, which returns to the pool unless it was discarded.
  class Turn {
   public:
    explicit Turn(std::uint64_t bytes) : bytes_(bytes), worker_(of_process().take(bytes)), used_(worker_ != nullptr) {}
    ~Turn() { of_process().put(bytes_, std::move(worker_)); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Worker& worker() {  // throws Error if none can be started
      if (!worker_) worker_ = std::make_unique<Worker>("agon-decode", "pictures");
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
  // An idle worker; null: the caller may start one.
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

// A library's message, as printable ASCII; it may quote the picture's bytes.
std::string plain(std::string text) {
  for (char& letter : text)
    if (letter < 0x20 || letter > 0x7E) letter = '?';
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// Ends the worker if it still runs, and explains what its end means for its picture.
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
  constexpr std::uint64_t kBothEnds = 6;  // RGB in the decoder, and RGB in this process
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
      // An idle worker may have been killed from outside. A fresh one shows whether the picture is to blame.
    } catch (...) {
      turn.discard();
      throw;
    }
  }
}

}  // namespace agon
