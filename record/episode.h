// record/episode.h - the record of one episode: what was shown, what the policy wrote (with its tokens), and what the
// env answered.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/message.h"
#include "env/env.h"

namespace agon::record {

// The credit that training gave a turn's tokens: one entry per token in each list (agents/learn/credit/credit.h). All
// lists empty: no credit, or it was not recorded.
struct TurnCredit {
  std::vector<std::uint16_t> token_bytes;    // how many bytes of `text` each token wrote (0: an end token)
  std::vector<float> advantage, weight, kl;  // weight 0: not trained; kl: weight of the KL term
  bool operator==(const TurnCredit&) const = default;
};

// For a transcript longer than the policy's context: its tokens (`prompt_tokens`), and the tokens that the context can
// hold (`holds`).
struct FullContext {
  std::int64_t prompt_tokens = 0, holds = 0;
};

struct Turn {
  env::Observation observation;         // what the policy saw before this turn
  std::string text;                     // what it wrote
  std::vector<std::int32_t> token_ids;  // the tokens, and their log-probabilities under the sampling policy
  std::vector<float> logprobs;
  std::optional<int> counted_tokens;  // number of tokens, from a server that gives no ids
  std::int64_t tokens() const { return counted_tokens ? *counted_tokens : std::ssize(token_ids); }
  std::string reasoning;      // from a server that gives it separately from the text
  std::string finish_reason;  // "stop" or "length"
  int prompt_tokens = 0;
  env::Reward reward;
  env::StepFacts facts;  // from the env's answer
  bool given = false;    // the expert wrote it in the policy's place (agents/expert_turn.h): shown, without tokens,
                         // reward or credit. Such turns come before all others.
  // The transcript that follows this turn is longer than the policy's context, so the episode ends here, truncated.
  std::optional<FullContext> full_context;
  std::optional<double> model_reward;  // of a reward model, during training
  TurnCredit credit;
};

// The facts of a turn as one object: env/step_facts.h, then "given", "context", "reward_model", "tokens"
// (counted_tokens) and "reasoning" where they apply. A run stores this object, and every command shows it, as "info".
Json info_of(const Turn& turn);
void set_info(Turn& turn, Json info);  // the inverse; entries of unknown form stay in facts.info

// failed: the infrastructure broke; not a reward of 0, excluded from all means.
enum class EpisodeStatus { done, failed };

struct Episode {
  std::string task_id;
  std::uint64_t task_index = 0;  // index in the split
  int level = 0;
  std::string kind;
  std::string prompt;
  Json gold;
  int sample = 0;  // 0..samples-1; kGreedySample for the extra sample at T = 0
  EpisodeStatus status = EpisodeStatus::done;
  std::string failure;  // why it failed
  std::vector<Turn> turns;
  double reward = 0;     // sum over turns
  bool success = false;  // StepFacts::success of the last turn; if unset, whether its "accuracy" is at least 1
  bool truncated = false;
  std::optional<std::string> answer;  // extract_answer of the last turn
  std::optional<double> score;        // extract_score of the last turn; nothing: missing or invalid
  double seconds = 0;
  std::optional<std::int64_t> train_step;  // step of the training that played it, from 1; nothing: played to measure
};
inline constexpr int kGreedySample = -1;

// For an episode of two turns (env/wrappers/two_turn.h): whether the first and the second answer are right. A second
// answer that did not fit the context is wrong. Empty for other episodes.
std::vector<bool> turns_correct(const Episode& episode);

}  // namespace agon::record
