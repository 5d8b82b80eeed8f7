#include "agents/learn/loop/reward_learner.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::size_t kSetsAtOnce = 8;  // sets per forward and backward pass
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
    const at::Tensor loss = this->loss(some, figures) / count;
    loss.backward();
    figures.loss += loss.item<double>();
  }
  figures.best /= count;
  if (!std::isfinite(figures.loss)) throw Error("the loss is {}. Lower 'learning_rate'.", figures.loss);
  figures.gradient_norm = optimizer_->step(learning_rate, options_.clip_norm);
  return figures;
}

void RewardLearner::require_finite() const {
  for (const at::Tensor& weight : network_.parameters())
    if (!weight.isfinite().all().item<bool>()) throw Error("a weight is not finite. Lower 'learning_rate'.");
}

at::Tensor RewardLearner::loss(std::span<const RankedResponses> sets, RankingStepFigures& figures) {
  std::vector<ResponseSet> encoded;
  for (const RankedResponses& set : sets) encoded.push_back(network_.encode(set.messages, set.responses));
  const ResponseScores all = network_.scores(encoded, options_.imitation > 0);
  std::vector<at::Tensor> losses;
  std::int64_t first = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::int64_t size = std::ssize(sets[k].responses), best = sets[k].ranked.front();
    const at::Tensor scores = all.scores.narrow(0, first, size);
    losses.push_back(ranking_loss(options_.loss, scores, sets[k].ranked, sets[k].rank));
    figures.best +=
        static_cast<double>(sets[k].rank[static_cast<std::size_t>(scores.argmax().item<std::int64_t>())] == 1);
    if (options_.imitation > 0) {
      const auto tokens = static_cast<double>(encoded[k].responses[static_cast<std::size_t>(best)].size());
      losses.back() = losses.back() - options_.imitation / tokens * all.log_likelihoods[first + best];
    }
    first += size;
  }
  return at::stack(losses).sum();
}

std::vector<double> RewardLearner::score(const std::vector<Message>& messages, std::span<const std::string> responses) {
  const at::NoGradGuard no_grad;
  const ResponseSet set = network_.encode(messages, responses);
  const at::Tensor scores = network_.scores(std::span(&set, 1)).scores.to(at::kDouble).contiguous();
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
