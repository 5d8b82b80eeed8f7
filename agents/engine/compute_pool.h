// agents/engine/compute_pool.h - a pool of threads that share one task at a time. The calling thread takes part.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/parallel.h"

namespace agon::agents {

// Not thread-safe: one thread owns the pool and calls run, never from inside a body. Idle threads sleep.
class ComputePool {
 public:
  using Body = std::function<void(std::int64_t begin, std::int64_t end)>;
  explicit ComputePool(int threads);  // 0: one per core
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  // Calls body on disjoint ranges that cover [0, count), each at most `grain` long (a pool of one thread uses a single
  // range), and returns when all are done. The first exception that a body throws is thrown here, after that.
  void run(std::int64_t count, std::int64_t grain, const Body& body);
  kernels::ParallelFor parallel();  // for kernels; valid while the pool lives; empty for a pool of one thread

 private:
  void end();  // stops the threads and waits for them
  void work();
  bool take_part(std::uint32_t job);  // false: no range of the job is left
  void do_range(const Body& body, std::int64_t begin, std::int64_t end);

  // job_ counts jobs; claimed_ holds (job, ranges handed out) in one word, so that a late thread cannot claim a range
  // of a job that it has not read.
  std::atomic<std::uint32_t> job_{0};
  std::atomic<std::uint64_t> claimed_{0};
  std::atomic<const Body*> body_{nullptr};
  std::atomic<std::int64_t> count_{0}, grain_{1}, done_{0};
  std::atomic<bool> stop_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

}  // namespace agon::agents
