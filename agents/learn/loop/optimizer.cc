#include "agents/learn/loop/optimizer.h"

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>

#include "core/error.h"
#include "core/file.h"

namespace agon::agents {
namespace {

std::unique_ptr<torch::optim::AdamW> make_adamw(const std::vector<at::Tensor>& weights, const AdamWSettings& settings) {
  std::vector<at::Tensor> matrices, vectors;
  for (const at::Tensor& weight : weights) (weight.dim() < 2 ? vectors : matrices).push_back(weight);
  const auto options = [&](double decay) {
    auto result = torch::optim::AdamWOptions(settings.learning_rate);
    result.betas({settings.beta1, settings.beta2}).weight_decay(decay);
    return result;
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(matrices, std::make_unique<torch::optim::AdamWOptions>(options(settings.weight_decay)));
  groups.emplace_back(vectors, std::make_unique<torch::optim::AdamWOptions>(options(0)));
  return std::make_unique<torch::optim::AdamW>(std::move(groups), options(settings.weight_decay));
}

}  // namespace

Optimizer::Optimizer(std::vector<at::Tensor> weights, const AdamWSettings& settings)
    : weights_(std::move(weights)), adamw_(make_adamw(weights_, settings)) {}

Optimizer::~Optimizer() = default;

void Optimizer::zero_grad() { adamw_->zero_grad(); }

double Optimizer::step(double learning_rate, double clip_norm) {
  const double norm = torch::nn::utils::clip_grad_norm_(weights_, clip_norm);
  if (!std::isfinite(norm))
    throw Error(
        "the norm of the gradients is {}. Lower 'learning_rate', or look for a reward or a score that overflows.",
        norm);
  for (auto& group : adamw_->param_groups()) group.options().set_lr(learning_rate);
  adamw_->step();
  return norm;
}

// Written through memory, so that a full disk is an Error and does not end the process in LibTorch's writer.
void Optimizer::save(const std::filesystem::path& file) const {
  std::ostringstream bytes;
  torch::save(*adamw_, bytes);
  write_file_atomically(file.string(), bytes.view());
}

void Optimizer::load(const std::filesystem::path& file) try {
  torch::load(*adamw_, file.string());
} catch (const c10::Error& error) {
  throw Error("{}: the state of the optimiser cannot be read: {}. Remove the checkpoint's folder to start again.",
              file.string(), error.what_without_backtrace());
}

}  // namespace agon::agents
