#include "agents/engine/compute_pool.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr int kSpins = 4000;  // about 50 microseconds: the jobs of a token follow closely on one another

constexpr std::uint64_t kClosed = 0xffffffffu;  // more ranges than a job has

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ComputePool::ComputePool(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    end();
    throw Error("{} threads cannot be started: {}. Ask for fewer.", threads, error.what());
  }
}

ComputePool::~ComputePool() { end(); }

void ComputePool::end() {
  stop_ = true;
  ++job_;
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ComputePool::work() {
  std::uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; job_ == seen && spin < kSpins; ++spin) pause();
    job_.wait(seen);
    seen = job_;
    if (stop_) return;
    while (take_part(seen)) {
    }
  }
}

// A successful exchange shows that the body and sizes read before it belong to this job: run() changes claimed_ before
// it writes those of the next job.
bool ComputePool::take_part(std::uint32_t job) {
  std::uint64_t claimed = claimed_;
  const Body* body = body_;
  const std::int64_t count = count_, grain = grain_;
  const auto begin = static_cast<std::int64_t>(claimed & 0xffffffffu) * grain;
  if (static_cast<std::uint32_t>(claimed >> 32) != job || begin >= count) return false;
  if (!claimed_.compare_exchange_strong(claimed, claimed + 1)) return true;
  do_range(*body, begin, std::min(count, begin + grain));
  return true;
}

void ComputePool::do_range(const Body& body, std::int64_t begin, std::int64_t end) {
  try {
    body(begin, end);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  if ((done_ += end - begin) == count_) done_.notify_one();
}

void ComputePool::run(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  if (workers_.empty() || count <= grain) return body(0, count);
  grain = std::max(grain, count >> 31);
  const std::uint32_t job = job_ + 1;
  claimed_ = (std::uint64_t{job} << 32) | kClosed;  // first, so that a late thread of the last job claims nothing
  body_ = &body;
  count_ = count;
  grain_ = grain;
  done_ = 0;
  claimed_ = std::uint64_t{job} << 32;
  job_ = job;
  job_.notify_all();
  while (take_part(job)) {
  }
  for (int spin = 0; done_ != count && spin < kSpins; ++spin) pause();
  for (std::int64_t done = done_; done != count; done = done_) done_.wait(done);  // slow under other load
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

kernels::ParallelFor ComputePool::parallel() {
  if (workers_.empty()) return {};
  return [this](std::int64_t count, const Body& body) {
    run(count, std::max<std::int64_t>(1, count / (2 * threads())), body);
  };
}

}  // namespace agon::agents
