// agents/learn/loop/train_model.h - the policy in training: its weights, the reference, the optimiser, and the
// optimiser step on groups with credit.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "agents/engine/backend.h"
#include "agents/engine/weights.h"
#include "agents/hub/model_folder.h"
#include "agents/learn/data/train_rollout.h"
#include "agents/learn/loop/optimizer.h"
#include "agents/learn/loop/policy_loss.h"
#include "agents/learn/loop/probe_group.h"
#include "agents/learn/loop/probes.h"
#include "agents/learn/loop/train_config.h"
#include "agents/learn/network/lora.h"
#include "agents/learn/network/transformer_network.h"

namespace agon::agents {

struct UpdateFigures {
  PolicyLossFigures loss;
  double gradient_norm = 0;
  std::int64_t rows = 0;  // tokens of forward and backward
};

// Log-probabilities of response tokens, by group and roll-out.
using References = std::span<const std::vector<std::vector<float>>>;

class TrainModel {
 public:
  // Loads config.policy and, when it is first needed, the reference: config.reference, or the policy as it was at the
  // start (with LoRA: the model without its adapter). Throws Error for folders that do not load or whose models differ.
  TrainModel(const TrainConfig& config, const ModelFolder& folder);
  ~TrainModel();

  // Log-probabilities of every response token under the reference, by group and roll-out, without gradient. Call before
  // the first update on these groups.
  std::vector<std::vector<std::vector<float>>> reference_logprobs(std::span<const TrainGroup* const> groups);
  // Computes the gradients of the loss of all groups together, replacing earlier gradients; weights are scaled by each
  // group's mass. reference: as returned for these groups, or empty if no token has a KL weight. imitates: as
  // CreditAssigner::imitates. Groups without a gradient (no trained token, or no advantage and no KL) count in the mean
  // but cost nothing, and are excluded from the figures. Throws Error for a value that is not finite.
  UpdateFigures accumulate(std::span<const TrainGroup* const> groups, References reference, Clip clip, bool imitates);
  // One optimiser step on the groups; without any trained token nothing changes. Throws Error for a loss or gradient
  // that is not finite; the weights are then unchanged.
  UpdateFigures update(std::span<const TrainGroup* const> groups, References reference, double learning_rate, Clip clip,
                       bool imitates);

  // agents/learn/loop/probes.h with the current weights.
  std::vector<std::vector<StepProbes>> probe(std::span<const ProbeGroup> groups);

  TransformerNetwork& model() { return *model_; }
  std::vector<at::Tensor> trained() const;  // the parameters that change
  EngineWeights engine_weights();
  // A backend for an engine that computes with the training's own tensors. After an update, call
  // Engine::change_weights.
  std::unique_ptr<ModelBackend> sharing_backend() const;
  // Writes a model folder; with LoRA the adapter is merged into its weights, and also saved in FOLDER/adapter.
  void save(const std::filesystem::path& folder);
  void save_training_state(const std::filesystem::path& folder);  // weights or adapter, and optimiser
  void load_training_state(const std::filesystem::path& folder);  // throws Error for damaged files

 private:
  struct Pass;
  void load(TransformerNetwork& model, const std::filesystem::path& folder) const;
  std::vector<Pass> passes(std::span<const TrainGroup* const> groups) const;
  PolicyTokens tokens_of(const Pass& pass, std::span<const TrainGroup* const> groups, const References& reference,
                         double mass, bool imitates) const;
  void load_reference();
  at::Tensor response_logprobs(TransformerNetwork& model, const Pass& pass, at::Tensor* entropy) const;

  const TrainConfig& config_;
  const ModelFolder folder_;
  std::shared_ptr<TransformerNetwork> model_;
  std::unique_ptr<LoraAdapter> lora_;              // null: full fine-tuning
  std::shared_ptr<TransformerNetwork> reference_;  // null until it is needed
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace agon::agents
