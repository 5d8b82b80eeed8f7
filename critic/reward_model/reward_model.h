// critic/reward_model/reward_model.h - RewardModel: scores several responses to one prompt in one pass (YOJO, arXiv
// 2604.10966). The prompt and its pictures are read once, followed by the responses. Thread-safe: any thread may call,
// calls block. No torch here.
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
  // One score per response, in order; higher is better. Scores of different prompts are not comparable. In an apart
  // model, equal responses of a set are read once and have the same score; a joint model sees how many say the same.
  // Throws Error for a set without responses, for a set that exceeds the context (naming how many of its responses
  // fit), and for a score that is not finite.
  virtual std::vector<std::vector<double>> score(std::span<const Candidates> sets) = 0;
  virtual bool fits(const Candidates& set) const = 0;     // within the context
  virtual void require(const Candidates& set) const = 0;  // throws Error, as score does, for one that does not fit
  virtual std::int64_t tokens(const Candidates& set) const = 0;  // read for a set; throws as require does
  // P(right) of a score at even odds, as fitted on held-out sets when it was trained.
  virtual double probability(double score) const = 0;
  virtual bool joint() const = 0;         // a response sees those before it: its score depends on them
  virtual const Json& notes() const = 0;  // how it was made
};

// Adds a response to the last set if it answers the same messages (`joins`) and the set still fits the context, else to
// a new set.
void add_response(const RewardModel& model, std::vector<Candidates>& sets, bool joins,
                  const std::vector<Message>& messages, const std::string& response);

// The model of a folder (critic/reward_model/engine_reward_model.h) as a reward of roll-outs
// (agents/learn/loop/train.h), scored in the order of their group. A group that exceeds the context is scored in
// several sets, and equal responses get the mean of their scores. Throws Error for a response that alone exceeds the
// context.
std::unique_ptr<agents::ResponseScorer> open_response_scorer(const std::filesystem::path& folder, int threads = 0);

}  // namespace agon::critic
