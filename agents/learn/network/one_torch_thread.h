// agents/learn/network/one_torch_thread.h - limits ATen to one thread, for small tasks while an engine runs.
#pragma once

namespace agon::agents {

// While a OneTorchThread exists, ATen computes only on the calling thread. Waking ATen's other threads costs more than
// a small task itself, and they would take cores from the engine's threads.
class OneTorchThread {
 public:
  OneTorchThread();
  ~OneTorchThread();
  OneTorchThread(const OneTorchThread&) = delete;
  OneTorchThread& operator=(const OneTorchThread&) = delete;

 private:
  int before_;
};

}  // namespace agon::agents
