// kernels/parallel.h - how a CPU kernel uses several threads: the caller passes in a parallel-for function; the kernel
// owns no threads.
#pragma once

#include <cstdint>
#include <functional>

namespace agon::kernels {

// Calls body(begin, end) on disjoint ranges that cover [0, count), on several threads; returns when all are done. A
// kernel's result does not depend on how the range is split. An empty function means one call on this thread.
using ParallelFor =
    std::function<void(std::int64_t count, const std::function<void(std::int64_t begin, std::int64_t end)>& body)>;

inline void run_parallel(const ParallelFor& parallel, std::int64_t count,
                         const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
  if (parallel)
    parallel(count, body);
  else
    body(0, count);
}

}  // namespace agon::kernels
