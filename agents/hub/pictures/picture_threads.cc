#include "agents/hub/pictures/picture_threads.h"

#include <algorithm>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace agon::agents {
namespace {

using Body = std::function<void(std::int64_t begin, std::int64_t end)>;

constexpr std::int64_t kLarge = 200'000;  // pixels: a thread takes about 1 ms for them
constexpr unsigned kMostThreads = 4;

// Ends only when all threads have ended. Throws what a body throws.
void run_on_threads(std::int64_t threads, std::int64_t count, const Body& body) {
  const std::int64_t share = (count + threads - 1) / threads;
  std::vector<std::future<void>> others;
  std::int64_t begin = share;
  try {
    for (; begin < count; begin += share)
      others.push_back(
          std::async(std::launch::async, [&body, begin, end = std::min(count, begin + share)] { body(begin, end); }));
  } catch (const std::system_error&) {  // no more threads: this one does the rest
    body(begin, count);
  }
  body(0, std::min(share, count));
  for (std::future<void>& other : others) other.get();
}

}  // namespace

kernels::ParallelFor picture_threads(std::int64_t pixels) {
  const unsigned threads = std::min(std::thread::hardware_concurrency(), kMostThreads);
  if (pixels < kLarge || threads < 2) return {};
  return [threads](std::int64_t count, const Body& body) { run_on_threads(threads, count, body); };
}

}  // namespace agon::agents
