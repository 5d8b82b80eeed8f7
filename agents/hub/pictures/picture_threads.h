// agents/hub/pictures/picture_threads.h - threads that prepare one large picture together.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"

namespace agon::agents {

// Starts up to 4 threads per call of a kernel. Empty for pictures that one thread prepares about as fast, and on a
// machine with one processor.
kernels::ParallelFor picture_threads(std::int64_t pixels);

}  // namespace agon::agents
