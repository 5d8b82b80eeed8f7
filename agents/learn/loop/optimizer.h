// agents/learn/loop/optimizer.h - AdamW (Loshchilov and Hutter 2019) as agon's training runs use it. learning_rate.h
// computes each step's learning rate.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <vector>

namespace torch::optim {
class AdamW;
}

namespace agon::agents {

struct AdamWSettings {
  double learning_rate = 1e-4, weight_decay = 0, beta1 = 0.9, beta2 = 0.999;
};

class Optimizer {
 public:
  // Weight decay applies only to matrices, not to norms and biases. Keeps references to the weights.
  Optimizer(std::vector<at::Tensor> weights, const AdamWSettings& settings);
  ~Optimizer();

  void zero_grad();
  // One step on the gradients, jointly scaled down to `clip_norm` if their norm exceeds it. Returns the norm before
  // scaling. Throws Error for a norm that is not finite; the weights are then unchanged.
  double step(double learning_rate, double clip_norm);
  void save(const std::filesystem::path& file) const;
  void load(const std::filesystem::path& file);  // throws Error for a damaged file

 private:
  std::vector<at::Tensor> weights_;
  std::unique_ptr<torch::optim::AdamW> adamw_;
};

}  // namespace agon::agents
