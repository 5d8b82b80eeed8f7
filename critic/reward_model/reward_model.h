// critic/reward_model/reward_model.h - RewardModel, the interface of models that score several responses to one prompt
// in one pass (YOJO, arXiv 2604.10966): the prompt and its pictures are read once, followed by the responses.
// Thread-safe: any thread may call, calls block. No torch here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/learn/data/response_scorer.h"
#include "core/json.h"
#include "core/message.h"

namespace agon::critic {

struct Candidates {
  std::vector<Message> messages;  // the prompt, pictures included
  std::vector<std::string> responses;
};

class RewardModel {
 public:
  virtual ~RewardModel() = default;
  // One score per response, in order; higher is better. Scores of different prompts are not comparable. If joint() is
  // false, equal responses of a set are read once and get the same score. A joint model reads all of them, so their
  // number can change the scores. Throws Error for a set without responses, for a set that exceeds the context (naming
  // how many of its responses fit), and for a score that is not finite.
  virtual std::vector<std::vector<double>> score(std::span<const Candidates> sets) = 0;
  virtual bool fits(const Candidates& set) const = 0;            // whether the set fits into the context
  virtual void require(const Candidates& set) const = 0;         // throws Error, as score does, if the set does not fit
  virtual std::int64_t tokens(const Candidates& set) const = 0;  // tokens read for the set; throws as require does
  // P(right) of a score at even odds, as fitted on held-out sets in training.
  virtual double probability(double score) const = 0;
  virtual bool joint() const = 0;         // joint: a response sees the earlier responses, and its score depends on them
  virtual const Json& notes() const = 0;  // how the model was made
};

// Adds a response to the last set if it answers the same messages (`joins`) and the set still fits the context, else to
// a new set.
void add_response(const RewardModel& model, std::vector<Candidates>& sets, bool joins,
                  const std::vector<Message>& messages, const std::string& response);

// Loads the model of a folder (critic/reward_model/engine_reward_model.h) as the reward of roll-outs
// (agents/learn/loop/train.h). It scores the responses in the order of their group. A group that exceeds the context is
// scored in several sets, and equal responses get the mean of their scores. Scoring throws Error for a response that
// exceeds the context on its own.
std::unique_ptr<agents::ResponseScorer> open_response_scorer(const std::filesystem::path& folder, int threads = 0);

}  // namespace agon::critic
