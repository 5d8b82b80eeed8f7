#include "critic/reward_model/reward_model.h"

#include <cmath>

#include "agents/learn/reward_network.h"
#include "agents/local/engine.h"

namespace agon::critic {
namespace {

using agents::ResponseLayout;

class EngineRewardModel final : public RewardModel {
 public:
  EngineRewardModel(const std::filesystem::path& folder, int threads)
      : network_(folder),
        engine_(network_.engine_weights(), network_.folder().config, network_.folder().tokenizer, {.threads = threads}),
        slope_(network_.notes().value("slope", 1.0)),
        offset_(network_.notes().value("offset", 0.0)) {}

  std::vector<std::vector<double>> score(std::span<const Candidates> sets) override {
    std::vector<ResponseLayout> layouts;
    std::vector<agents::ScoringRequest> requests;
    for (const Candidates& candidates : sets) {
      const agents::ResponseSet set = network_.encode(candidates.messages, candidates.responses);
      layouts.push_back(network_.lay_out(set));
      for (const auto& ids : layouts.back().sequences) requests.push_back({set.prompt, ids});
    }
    const std::vector<std::vector<float>> states = engine_.states(std::move(requests));
    std::vector<std::vector<double>> scores;
    auto next = states.begin();
    for (const ResponseLayout& layout : layouts) {
      scores.push_back(network_.scores_of({next, next + std::ssize(layout.sequences)}, layout));
      next += std::ssize(layout.sequences);
    }
    return scores;
  }

  bool fits(const Candidates& set) const override { return network_.fits(set.messages, set.responses); }
  double probability(double score) const override { return 1 / (1 + std::exp(-(slope_ * score + offset_))); }
  bool joint() const override { return network_.settings().joint; }
  const Json& notes() const override { return network_.notes(); }

 private:
  agents::RewardNetwork network_;
  agents::Engine engine_;
  double slope_, offset_;
};

class ModelReward final : public agents::ResponseScorer {
 public:
  explicit ModelReward(std::unique_ptr<RewardModel> model) : model_(std::move(model)) {}
  std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses) override {
    const Candidates set{messages, {responses.begin(), responses.end()}};
    return model_->score(std::span(&set, 1)).front();
  }

 private:
  const std::unique_ptr<RewardModel> model_;
};

}  // namespace

std::unique_ptr<agents::ResponseScorer> open_response_scorer(const std::filesystem::path& folder, int threads) {
  return std::make_unique<ModelReward>(open_reward_model(folder, threads));
}

std::unique_ptr<RewardModel> open_reward_model(const std::filesystem::path& folder, int threads) {
  return std::make_unique<EngineRewardModel>(folder, threads);
}

}  // namespace agon::critic
