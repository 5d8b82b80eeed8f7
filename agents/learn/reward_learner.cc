#include "agents/learn/reward_learner.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::size_t kSetsAtOnce = 8;  // that go forward and backward together
constexpr const char* kOptimizerFile = "optimizer.pt";

}  // namespace

RewardLearner::RewardLearner(const RewardNetworkSettings& settings, const RewardLearnerOptions& options)
    : options_(options), network_(settings, options.seed) {
  if (options.threads > 0) at::set_num_threads(options.threads);
  optimizer_ = std::make_unique<Optimizer>(network_.parameters(), options.optimizer);
}

RankingStepFigures RewardLearner::step(std::span<const RankedResponses> sets, double learning_rate) {
  RankingStepFigures figures;
  const auto count = static_cast<double>(sets.size());
  optimizer_->zero_grad();
  for (std::size_t i = 0; i < sets.size(); i += kSetsAtOnce) {
    const std::span some = sets.subspan(i, std::min(kSetsAtOnce, sets.size() - i));
    const std::vector<torch::Tensor> scored = scores(some);
    std::vector<torch::Tensor> losses;
    for (std::size_t k = 0; k < some.size(); ++k) {
      losses.push_back(ranking_loss(options_.loss, scored[k], some[k].ranked, some[k].rank));
      figures.best += static_cast<double>(scored[k].argmax().item<std::int64_t>() == some[k].ranked.front()) / count;
    }
    const torch::Tensor loss = at::stack(losses).sum() / count;
    loss.backward();
    figures.loss += loss.item<double>();
  }
  if (!std::isfinite(figures.loss)) throw Error("the loss is {}. Lower 'learning_rate'.", figures.loss);
  figures.gradient_norm = optimizer_->step(learning_rate, options_.clip_norm);
  return figures;
}

void RewardLearner::require_finite() const {
  for (const torch::Tensor& weight : network_.parameters())
    if (!weight.isfinite().all().item<bool>()) throw Error("a weight is not finite. Lower 'learning_rate'.");
}

std::vector<torch::Tensor> RewardLearner::scores(std::span<const RankedResponses> sets) {
  std::vector<ResponseSet> encoded;
  std::vector<std::int64_t> sizes;
  for (const RankedResponses& set : sets) {
    encoded.push_back(network_.encode(set.messages, set.responses));
    sizes.push_back(std::ssize(set.responses));
  }
  return network_.scores(encoded).split_with_sizes(sizes);
}

std::vector<double> RewardLearner::score(const std::vector<Message>& messages, std::span<const std::string> responses) {
  const at::NoGradGuard no_grad;
  const ResponseSet set = network_.encode(messages, responses);
  const torch::Tensor scores = network_.scores(std::span(&set, 1)).to(at::kDouble).contiguous();
  return {scores.const_data_ptr<double>(), scores.const_data_ptr<double>() + scores.numel()};
}

void RewardLearner::save_state(const std::filesystem::path& folder) const {
  network_.save(folder, Json());
  optimizer_->save(folder / kOptimizerFile);
}

void RewardLearner::load_state(const std::filesystem::path& folder) {
  network_.restore(folder);
  optimizer_->load(folder / kOptimizerFile);
}

}  // namespace agon::agents
