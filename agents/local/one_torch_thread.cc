#include "agents/local/one_torch_thread.h"

#include <ATen/Parallel.h>

// Of this thread alone, unlike at::set_num_threads, under which those that train would sum in another order. Not from
// <omp.h>: the compiler's may be for another library than the one that LibTorch brings.
extern "C" void omp_set_num_threads(int threads);

namespace agon::agents {

OneTorchThread::OneTorchThread() : before_(at::get_num_threads()) { omp_set_num_threads(1); }
OneTorchThread::~OneTorchThread() { omp_set_num_threads(before_); }

}  // namespace agon::agents
