// agents/learn/data/train_rollout.h - converts a group of episodes to the form that training needs: tokens, their
// log-probabilities, and the segments for credit.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/hub/prompt.h"
#include "agents/learn/credit/credit.h"
#include "record/episode.h"

namespace agon::agents {

// The policy's turns after first_messages, with the later observations between them.
struct TrainRollout {
  EncodedPrompt response;               // all tokens after the prompt, and the pictures among them
  std::vector<float> logprobs;          // one per token, under the policy that wrote it; 0 for observations
  std::vector<CreditSegment> segments;  // of all tokens
  std::vector<int> turn_begins;         // first token of each turn that the policy wrote
};

struct TrainGroup {
  std::size_t source = 0;  // index into PlayConfig::sources
  std::vector<record::Episode> episodes;
  EncodedPrompt prompt;
  std::vector<TrainRollout> rollouts;  // one per episode
  GroupCredit credit;
};

bool is_trained(const TrainGroup& group);  // whether some token has a weight
// Whether some token has a weight and an advantage or a KL term, so that the loss is not constant.
bool has_gradient(const TrainGroup& group);

// The messages before the policy's first turn (including earlier turns of the expert), and before its last turn.
std::vector<Message> first_messages(const record::Episode& episode, const std::string& instructions);
std::vector<Message> messages_before_last_turn(const record::Episode& episode, const std::string& instructions);

// Makes a group of all episodes of one task, with steps split by `rule`. Throws Error for a group that cannot be
// converted: tokens that do not spell their text or do not match their prompts (another tokenizer or template), image
// tokens without a picture, a picture that does not fit, a log-probability that is not finite, more tokens than the
// context or a group holds. A turn may end with any of the model's end tokens; the sampled one is trained.
TrainGroup make_train_group(std::vector<record::Episode> episodes, const std::string& instructions,
                            const ModelFolder& folder, env::StepRule rule = env::StepRule::blank_line);

// The groups of a step, and the number of failed groups: the infrastructure failed, or the sampled tokens cannot be
// converted or given credit. A failed group is counted and left out. It does not count as a reward of 0 and does not
// end a training run.
class PlayedGroups {
 public:
  void fail(std::string reason, int count = 1);
  // Adds make_train_group of these episodes as a group of source number `source`, or counts a failure.
  void add(std::vector<record::Episode> episodes, std::size_t source, const std::string& instructions,
           const ModelFolder& folder, env::StepRule rule);
  // Calls use(group) for each group in order; if it throws Error, the group is left out and counted as a failure.
  void use_each(const std::function<void(const TrainGroup& group)>& use);

  std::vector<TrainGroup> groups;
  int failed = 0;
  std::string failure;  // why the last one failed
};

// Whether every roll-out of the groups has at most one step (a segment of kind think or step).
bool is_single_step(std::span<const TrainGroup> groups);

// A group in the form that credit needs, with later observations among its segments. Throws as credit_rollout.
CreditGroup credit_group(const TrainGroup& group, const std::map<std::string, double>& weights,
                         const Tokenizer& tokenizer);

}  // namespace agon::agents
