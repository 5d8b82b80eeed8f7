#include "agents/learn/loop/train_model.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <torch/cuda.h>

#include <optional>

#include "agents/learn/backend/torch_backend.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/token_logprob.h"
#include "core/error.h"

namespace agon::agents {
namespace {

std::int64_t rows_of(const TrainGroup& group) {
  std::int64_t rows = std::ssize(group.prompt.ids);
  for (const TrainRollout& rollout : group.rollouts) rows += std::ssize(rollout.response.ids);
  return rows;
}

PackedGroup packed(const TrainGroup& group, const ModelConfig& config) {
  std::vector<EncodedPrompt> responses;
  for (const TrainRollout& rollout : group.rollouts) responses.push_back(rollout.response);
  return make_packed_group(group.prompt, responses, config);
}

at::Tensor to_tensor(const std::vector<float>& values) { return at::tensor(values, at::kFloat); }

KlEstimator estimator_of(const std::string& name) { return name == "k2" ? KlEstimator::k2 : KlEstimator::k3; }

at::Device device_of(const TrainConfig& config) {
  const at::Device device(config.device);
  if (device.is_cuda() && !torch::cuda::is_available())
    throw Error("train: 'device' is cuda, but {}.",
#ifdef AGON_CUDA
                "no GPU is found"
#else
                "this program is built without CUDA: build it with script/build cuda"
#endif
    );
  return device;
}

// While it exists, matrices are multiplied in bfloat16 if configured; weights stay unchanged.
class Autocast {
 public:
  Autocast(bool wanted, at::DeviceType device) : wanted_(wanted), device_(device) {
    if (!wanted_) return;
    at::autocast::set_autocast_dtype(device_, at::kBFloat16);
    at::autocast::set_autocast_enabled(device_, true);
  }
  ~Autocast() {
    if (!wanted_) return;
    at::autocast::set_autocast_enabled(device_, false);
    at::autocast::clear_cache();  // it holds old weights
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const bool wanted_;
  const at::DeviceType device_;
};

void append(std::vector<float>& to, const std::vector<float>& from, float factor = 1) {
  for (const float value : from) to.push_back(value * factor);
}

}  // namespace

// Groups that go forward and backward together, and their places among the groups of the update.
struct TrainModel::Pass {
  std::vector<std::size_t> groups;
  std::int64_t rows = 0;
  PackedBatch batch;
};

TrainModel::TrainModel(const TrainConfig& config, const ModelFolder& folder)
    : config_(config), folder_(folder), model_(std::make_shared<TransformerNetwork>(folder.config)) {
  load(*model_, config.policy);
  if (config.lora.rank > 0)
    lora_ = std::make_unique<LoraAdapter>(model_, LoraOptions{config.lora.rank, config.lora.alpha, config.lora.targets},
                                          config.seed);
  const OptimizerConfig& optimizer = config.optimizer;
  optimizer_ = std::make_unique<Optimizer>(
      trained(), AdamWSettings{optimizer.learning_rate, optimizer.weight_decay, optimizer.beta1, optimizer.beta2});
}

TrainModel::~TrainModel() = default;

std::vector<at::Tensor> TrainModel::trained() const { return lora_ ? lora_->parameters() : model_->parameters(); }

void TrainModel::load(TransformerNetwork& model, const std::filesystem::path& folder) const {
  load_weights(model, folder);
  model.to(device_of(config_));
}

// Each pass takes as many groups, in order, as rows_per_pass allows. Groups without a gradient are skipped.
std::vector<TrainModel::Pass> TrainModel::passes(std::span<const TrainGroup* const> groups) const {
  std::vector<Pass> result;
  std::vector<PackedGroup> packs;
  const auto close = [&] {
    if (!packs.empty()) result.back().batch = make_packed_batch(packs, folder_.config).to(model_->device());
    packs.clear();
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!has_gradient(*groups[i])) continue;
    const std::int64_t rows = rows_of(*groups[i]);
    if (packs.empty() || result.back().rows + rows > config_.rows_per_pass) {
      close();
      result.emplace_back();
    }
    result.back().groups.push_back(i);
    result.back().rows += rows;
    packs.push_back(packed(*groups[i], folder_.config));
  }
  close();
  return result;
}

at::Tensor TrainModel::response_logprobs(TransformerNetwork& model, const Pass& pass, at::Tensor* entropy) const {
  const at::Tensor hidden = [&] {
    const Autocast autocast(config_.bfloat16, model.device().type());
    at::Tensor pictures;
    if (pass.batch.patches.defined()) pictures = model.encode_images(pass.batch.patches, pass.batch.grids);
    return model.packed_hidden_states(pass.batch, pictures);
  }();
  const TokenLogprobs result = token_logprobs(hidden.index_select(0, pass.batch.predictors).to(at::kFloat),
                                              model.lm_head(), pass.batch.targets, config_.sampling.temperature);
  if (entropy) *entropy = result.entropy.to(at::kCPU);
  return result.logprob.to(at::kCPU);
}

void TrainModel::load_reference() {
  if (reference_) return;
  reference_ = std::make_shared<TransformerNetwork>(folder_.config);
  load(*reference_, config_.reference.empty() ? config_.policy : std::filesystem::path(config_.reference));
}

std::vector<std::vector<std::vector<float>>> TrainModel::reference_logprobs(std::span<const TrainGroup* const> groups) {
  const at::NoGradGuard no_grad;
  std::optional<LoraAdapter::Off> off;
  const bool adapter_off = lora_ && config_.reference.empty();
  if (adapter_off)
    off.emplace(*lora_);
  else
    load_reference();
  TransformerNetwork& reference = adapter_off ? *model_ : *reference_;
  std::vector<std::vector<std::vector<float>>> result(groups.size());
  for (const Pass& pass : passes(groups)) {
    const at::Tensor logprobs = response_logprobs(reference, pass, nullptr).contiguous();
    const float* at = logprobs.const_data_ptr<float>();
    for (const std::size_t place : pass.groups)
      for (const TrainRollout& rollout : groups[place]->rollouts) {
        result[place].emplace_back(at, at + rollout.response.ids.size());
        at += rollout.response.ids.size();
      }
  }
  return result;
}

// The tokens of a pass as the loss takes them; logprob and entropy are not filled in.
PolicyTokens TrainModel::tokens_of(const Pass& pass, std::span<const TrainGroup* const> groups,
                                   const References& reference, double mass, bool imitates) const {
  std::vector<float> old, base, advantage, kl, weight;
  for (const std::size_t place : pass.groups) {
    const TrainGroup& group = *groups[place];
    for (std::size_t i = 0; i < group.rollouts.size(); ++i) {
      const TokenCredit& credit = group.credit.rollouts[i];
      append(old, group.rollouts[i].logprobs);
      append(advantage, credit.advantage);
      append(kl, credit.kl);
      append(weight, credit.weight, static_cast<float>(group.credit.mass / mass));
      if (!reference.empty()) append(base, reference[place][i]);
    }
  }
  PolicyTokens tokens;
  if (!imitates) tokens.old_logprob = to_tensor(old);
  if (!reference.empty()) {
    tokens.reference_logprob = to_tensor(base);
    tokens.kl = to_tensor(kl);
  }
  tokens.advantage = to_tensor(advantage);
  tokens.weight = to_tensor(weight);
  return tokens;
}

UpdateFigures TrainModel::accumulate(std::span<const TrainGroup* const> groups, References reference, Clip clip,
                                     bool imitates) {
  double mass = 0;
  for (const TrainGroup* group : groups)
    if (is_trained(*group)) mass += group->credit.mass;
  UpdateFigures figures;
  optimizer_->zero_grad();
  for (const Pass& pass : passes(groups)) {
    PolicyTokens tokens = tokens_of(pass, groups, reference, mass, imitates);
    tokens.logprob = response_logprobs(*model_, pass, &tokens.entropy);
    tokens.entropy = tokens.entropy.detach();
    const PolicyLoss loss = policy_loss(tokens, {.clip_low = clip.low,
                                                 .clip_high = clip.high,
                                                 .kl = estimator_of(config_.kl_estimator),
                                                 .kl_clamp = config_.kl_clamp});
    loss.loss.backward();
    figures.loss += loss.figures;
    figures.rows += pass.rows;
  }
  return figures;
}

UpdateFigures TrainModel::update(std::span<const TrainGroup* const> groups, References reference, double learning_rate,
                                 Clip clip, bool imitates) {
  UpdateFigures figures = accumulate(groups, reference, clip, imitates);
  if (figures.rows > 0) figures.gradient_norm = optimizer_->step(learning_rate, config_.optimizer.clip_norm);
  return figures;
}

std::vector<std::vector<StepProbes>> TrainModel::probe(std::span<const ProbeGroup> groups) {
  return probe_steps(*model_, groups, config_.sampling.temperature, config_.rows_per_pass);
}

EngineWeights TrainModel::engine_weights() {
  std::optional<LoraAdapter::Merged> merged;
  if (lora_) merged.emplace(*lora_);
  return engine_weights_of(*model_);
}

std::unique_ptr<ModelBackend> TrainModel::sharing_backend() const { return std::make_unique<TorchBackend>(model_); }

void TrainModel::save(const std::filesystem::path& folder) {
  std::optional<LoraAdapter::Merged> merged;
  if (lora_) merged.emplace(*lora_);
  save_model_folder(folder, folder_, *model_, WeightType::f32);
  merged.reset();
  if (lora_) lora_->save(folder / "adapter", config_.policy.string());
}

void TrainModel::save_training_state(const std::filesystem::path& folder) {
  if (lora_)
    lora_->save(folder, config_.policy.string());
  else
    save(folder);
  optimizer_->save(folder / "optimizer.pt");
}

void TrainModel::load_training_state(const std::filesystem::path& folder) {
  if (lora_)
    lora_->restore(folder);
  else
    load_weights(*model_, folder);
  optimizer_->load(folder / "optimizer.pt");
}

}  // namespace agon::agents
