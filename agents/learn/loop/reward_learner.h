// agents/learn/loop/reward_learner.h - trains a reward network: optimiser steps on sets of ranked responses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/loop/optimizer.h"
#include "agents/learn/loop/ranking_loss.h"
#include "agents/learn/network/reward_network.h"
#include "core/message.h"

namespace agon::agents {

// A prompt and its ranked responses, in the order in which the model reads them.
struct RankedResponses {
  std::vector<Message> messages;
  std::vector<std::string> responses;
  std::vector<int> rank;             // of each response; equal ranks are equally good
  std::vector<std::int64_t> ranked;  // indices of the responses from best to worst, with ties as drawn
};

struct RewardLearnerOptions {
  RankingLoss loss = RankingLoss::cross_entropy;
  AdamWSettings optimizer;
  // Weight of the language-model loss on the best response, added to the ranking loss: the negative log-likelihood of
  // its tokens except the first, divided by the number of all its tokens. It teaches the base to read a response that
  // follows other responses, a format that it has never seen. YOJO has no such term.
  double imitation = 0;
  double clip_norm = 1;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: the machine's cores
};

struct RankingStepFigures {
  double loss = 0;  // mean over the sets
  double best = 0;  // share of the sets in which the best response has the highest score
  double gradient_norm = 0;
};

class RewardLearner {
 public:
  // Throws Error as RewardNetwork does.
  RewardLearner(const RewardNetworkSettings& settings, const RewardLearnerOptions& options);
  // Throws Error for a loss that is not finite; the weights are then unchanged.
  RankingStepFigures step(std::span<const RankedResponses> sets, double learning_rate);
  void require_finite() const;  // throws Error for a weight that is not finite; the last step may leave one
  std::vector<double> score(const std::vector<Message>& messages, std::span<const std::string> responses);
  void save_state(const std::filesystem::path& folder) const;  // for a checkpoint
  void load_state(const std::filesystem::path& folder);        // throws Error for damaged files
  const RewardNetwork& network() const { return network_; }

 private:
  at::Tensor loss(std::span<const RankedResponses> sets, RankingStepFigures& figures);  // summed over the sets
  const RewardLearnerOptions options_;
  RewardNetwork network_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace agon::agents
