#include "agents/learn/loop/sft_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include <cmath>

#include "agents/learn/network/tensor_views.h"
#include "agents/learn/network/token_logprob.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr double kEmptyWeight = 0.2;  // of cells without an object in the class loss
constexpr const char* kObjectHeadFile = "object_head.safetensors";

void initialize(TransformerNetwork& model) {
  at::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.named_parameters()) {
    if (weight.dim() < 2) continue;
    const bool embedding = name.find("embed_tokens") != std::string::npos;
    const double fan_in = static_cast<double>(weight.numel() / weight.size(0));
    weight.normal_(0, embedding ? 0.05 : 0.7 / std::sqrt(fan_in));
  }
}

// PyTorch's initialisation of a linear: uniform within 1 / sqrt(inputs).
std::map<std::string, at::Tensor> drawn_linear(std::int64_t inputs, std::int64_t outputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  const auto draw = [&](at::IntArrayRef shape) {
    return at::empty(shape).uniform_(-bound, bound).set_requires_grad(true);
  };
  at::Tensor weight = draw({outputs, inputs}), bias = draw({outputs});
  return {{"weight", weight}, {"bias", bias}};
}

}  // namespace

SftModel::SftModel(const SftConfig& config, const ModelConfig& model, int classes)
    : classes_(classes),
      clip_norm_(config.clip_norm),
      model_(std::make_shared<TransformerNetwork>(model)),
      object_head_(drawn_linear(model.text.hidden_size, classes + 1 + 4 * kBoxBins)) {
  initialize(*model_);
  optimizer_ = std::make_unique<Optimizer>(
      parameters(), AdamWSettings{config.learning_rate, config.weight_decay, config.beta1, config.beta2});
}

SftModel::~SftModel() = default;

std::vector<at::Tensor> SftModel::parameters() const {
  std::vector<at::Tensor> all = model_->parameters();
  for (const char* name : {"weight", "bias"}) all.push_back(object_head_.at(name));
  return all;
}

std::vector<SftLoss> SftModel::step(std::span<const SftBatch> batches, double learning_rate, double auxiliary_weight) {
  optimizer_->zero_grad();
  std::vector<SftLoss> losses;
  for (const SftBatch& batch : batches)
    losses.push_back(accumulate(batch, auxiliary_weight, 1.0 / static_cast<double>(batches.size())));
  optimizer_->step(learning_rate, clip_norm_);
  return losses;
}

// Computed without the logits [N, V] in memory.
at::Tensor SftModel::language_loss(const SftBatch& batch, at::Tensor* pictures) {
  if (batch.patches.defined()) *pictures = model_->encode_images(batch.patches, batch.grids);
  const at::Tensor hidden = model_->hidden_states(batch.ids, batch.positions, *pictures, batch.lengths);
  const at::Tensor predicting = hidden.flatten(0, 1).index_select(0, batch.predictors);
  return -token_logprobs(predicting, model_->lm_head(), batch.targets).logprob.mean();
}

SftLoss SftModel::accumulate(const SftBatch& batch, double auxiliary_weight, double share) {
  at::Tensor pictures;
  at::Tensor loss = language_loss(batch, &pictures);
  SftLoss figures{loss.item<double>(), 0};
  if (!std::isfinite(figures.language))
    throw Error("train-sft: the loss is {}. Lower 'learning_rate' and resume from the last checkpoint.",
                figures.language);
  if (auxiliary_weight > 0 && pictures.defined()) {
    const at::Tensor objects = object_loss(pictures, batch);
    figures.objects = objects.item<double>();
    loss = loss + objects * auxiliary_weight;
  }
  (loss * share).backward();
  return figures;
}

at::Tensor SftModel::object_loss(const at::Tensor& pictures, const SftBatch& batch) {
  const at::Tensor& weight = object_head_.at("weight");
  const at::Tensor embeddings = pictures.narrow(1, 0, weight.size(1));  // without the vectors that DeepStack adds later
  const at::Tensor outputs = at::linear(embeddings, weight, object_head_.at("bias"));
  at::Tensor weights = at::ones({classes_ + 1});
  weights[classes_] = kEmptyWeight;
  const at::Tensor kind = at::cross_entropy_loss(outputs.narrow(1, 0, classes_ + 1), batch.cell_class, weights);
  const at::Tensor boxes = outputs.narrow(1, classes_ + 1, 4 * kBoxBins).reshape({-1, kBoxBins});
  return kind + at::cross_entropy_loss(boxes, batch.cell_box.flatten(), {}, at::Reduction::Mean, /*ignore_index=*/-1);
}

void SftModel::save_training_state(const std::filesystem::path& folder) const {
  optimizer_->save(folder / "optimizer.pt");
  TensorViews tensors;
  for (const auto& [name, tensor] : object_head_) tensors.add(name, tensor);
  tensors.write(folder / kObjectHeadFile);
}

void SftModel::load_training_state(const std::filesystem::path& folder) try {
  optimizer_->load(folder / "optimizer.pt");
  read_tensors(folder / kObjectHeadFile, object_head_);
} catch (const c10::Error& error) {
  throw Error("train-sft: {}: the training state cannot be read: {}. Remove the folder to start again.",
              folder.string(), error.what_without_backtrace());
}

}  // namespace agon::agents
