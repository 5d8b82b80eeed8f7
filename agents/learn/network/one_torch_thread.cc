#include "agents/learn/network/one_torch_thread.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace agon::agents {
namespace {

// Affects only the calling thread, unlike at::set_num_threads, which would change the order of sums in training
// threads. The function is looked up in LibTorch's OpenMP, since the compiler's may be another one.
void use_threads(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set) set(threads);
}

}  // namespace

OneTorchThread::OneTorchThread() : before_(at::get_num_threads()) { use_threads(1); }
OneTorchThread::~OneTorchThread() { use_threads(before_); }

}  // namespace agon::agents
