#include "agents/learn/network/one_torch_thread.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>

namespace agon::agents {
namespace {

// Of the calling thread alone, unlike at::set_num_threads, under which those that train would sum in another order. It
// is looked up where LibTorch has brought its OpenMP: the compiler's may be another.
void use_threads(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set) set(threads);
}

}  // namespace

OneTorchThread::OneTorchThread() : before_(at::get_num_threads()) { use_threads(1); }
OneTorchThread::~OneTorchThread() { use_threads(before_); }

}  // namespace agon::agents
