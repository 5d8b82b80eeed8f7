// agents/learn/network/one_torch_thread.h - small work of ATen's beside an engine.
#pragma once

namespace agon::agents {

// While it lives, ATen computes on this thread what this thread asks of it. To wake its other threads for a small task
// costs more than the task, and they take the cores that the engine's are to have.
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
