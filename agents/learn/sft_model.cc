#include "agents/learn/sft_model.h"

#include <ATen/ops/ones.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/init.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>

#include "agents/learn/token_logprob.h"
#include "core/error.h"
#include "core/file.h"

namespace agon::agents {
namespace {

namespace F = torch::nn::functional;

constexpr double kEmptyWeight = 0.2;  // of cells without an object in the class loss

void initialize(Qwen25VL& model) {
  torch::NoGradGuard no_grad;
  for (auto& entry : model->named_parameters()) {
    torch::Tensor& weight = entry.value();
    if (weight.dim() < 2) continue;
    const bool embedding = entry.key().find("embed_tokens") != std::string::npos;
    const double fan_in = static_cast<double>(weight.numel() / weight.size(0));
    torch::nn::init::normal_(weight, 0, embedding ? 0.05 : 0.7 / std::sqrt(fan_in));
  }
}

}  // namespace

SftModel::SftModel(const SftConfig& config, const ModelConfig& model, int classes)
    : classes_(classes),
      clip_norm_(config.clip_norm),
      model_(model),
      object_head_(model.text.hidden_size, classes + 1 + 4 * kBoxBins) {
  initialize(model_);
  optimizer_ = std::make_unique<Optimizer>(
      parameters(), AdamWSettings{config.learning_rate, config.weight_decay, config.beta1, config.beta2});
}

SftModel::~SftModel() = default;

std::vector<torch::Tensor> SftModel::parameters() const {
  std::vector<torch::Tensor> all = model_->parameters();
  for (const torch::Tensor& weight : object_head_->parameters()) all.push_back(weight);
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

// Without the logits [N, V] in memory.
torch::Tensor SftModel::language_loss(const SftBatch& batch, torch::Tensor* pictures) {
  if (batch.patches.defined()) *pictures = model_->encode_images(batch.patches, batch.grids);
  const torch::Tensor hidden = model_->hidden_states(batch.ids, batch.positions, *pictures, batch.lengths);
  const torch::Tensor predicting = hidden.flatten(0, 1).index_select(0, batch.predictors);
  return -token_logprobs(predicting, model_->lm_head(), batch.targets).logprob.mean();
}

SftLoss SftModel::accumulate(const SftBatch& batch, double auxiliary_weight, double share) {
  torch::Tensor pictures;
  torch::Tensor loss = language_loss(batch, &pictures);
  SftLoss figures{loss.item<double>(), 0};
  if (!std::isfinite(figures.language))
    throw Error("train-sft: the loss is {}. Lower 'learning_rate' and go on from the last checkpoint.",
                figures.language);
  if (auxiliary_weight > 0 && pictures.defined()) {
    const torch::Tensor objects = object_loss(pictures, batch);
    figures.objects = objects.item<double>();
    loss = loss + objects * auxiliary_weight;
  }
  (loss * share).backward();
  return figures;
}

torch::Tensor SftModel::object_loss(const torch::Tensor& pictures, const SftBatch& batch) {
  const torch::Tensor outputs = object_head_->forward(pictures);
  torch::Tensor weights = torch::ones({classes_ + 1});
  weights[classes_] = kEmptyWeight;
  const torch::Tensor kind = F::cross_entropy(outputs.narrow(1, 0, classes_ + 1), batch.cell_class,
                                              F::CrossEntropyFuncOptions().weight(weights));
  const torch::Tensor boxes = outputs.narrow(1, classes_ + 1, 4 * kBoxBins).reshape({-1, kBoxBins});
  return kind + F::cross_entropy(boxes, batch.cell_box.flatten(), F::CrossEntropyFuncOptions().ignore_index(-1));
}

void SftModel::save_training_state(const std::filesystem::path& folder) const {
  optimizer_->save(folder / "optimizer.pt");
  std::ostringstream bytes;
  torch::save(object_head_, bytes);
  write_file_atomically((folder / "object_head.pt").string(), bytes.view());
}

void SftModel::load_training_state(const std::filesystem::path& folder) try {
  optimizer_->load(folder / "optimizer.pt");
  torch::load(object_head_, (folder / "object_head.pt").string());
} catch (const c10::Error& error) {
  throw Error("train-sft: {}: the training state cannot be read: {}. Remove the folder to start again.",
              folder.string(), error.what_without_backtrace());
}

}  // namespace agon::agents
