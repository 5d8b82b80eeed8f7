// agents/learn/data/train_rollout.h - a group of episodes as what training needs: tokens, what each was written with,
// and the view that credit has.
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

// What a policy wrote after first_messages, with the later observations between its turns.
struct TrainRollout {
  EncodedPrompt response;               // all tokens after the prompt, and the pictures among them
  std::vector<float> logprobs;          // one a token, under the policy that wrote it; 0 for observations
  std::vector<CreditSegment> segments;  // of all tokens
  std::vector<int> turn_begins;         // first token of each turn that the policy wrote
};

struct TrainGroup {
  std::size_t source = 0;  // of PlayConfig::sources
  std::vector<record::Episode> episodes;
  EncodedPrompt prompt;
  std::vector<TrainRollout> rollouts;  // one an episode
  GroupCredit credit;
};

bool is_trained(const TrainGroup& group);  // a token of it has a weight
// ... and an advantage or a KL term: its loss is not constant.
bool has_gradient(const TrainGroup& group);

// The messages of an episode up to what the policy's first turn answers (turns of the expert's before it are among
// them), and up to what its last one answers.
std::vector<Message> first_messages(const record::Episode& episode, const std::string& instructions);
std::vector<Message> messages_before_last_turn(const record::Episode& episode, const std::string& instructions);

// All episodes of one task, their steps cut by `rule`. Throws Error for a group that cannot be laid out: tokens that do
// not spell their text or do not stand where their prompts say (another tokenizer or template), image tokens without a
// picture, a picture that does not fit, a log-probability that is not finite, more tokens than the context or a group
// holds. A turn may end with any of the model's end tokens: it is trained as it was sampled.
TrainGroup make_train_group(std::vector<record::Episode> episodes, const std::string& instructions,
                            const ModelFolder& folder, env::StepRule rule = env::StepRule::blank_line);

// The groups of a step that could be made, and how many failed: by the machinery, or because what the policy sampled
// cannot be laid out or given credit. A failed group is no reward of 0 and not the end of a training; it is counted and
// left out.
class PlayedGroups {
 public:
  void fail(std::string reason, int count = 1);
  // Adds make_train_group of these, as a group of the source number `source`, or a failure.
  void add(std::vector<record::Episode> episodes, std::size_t source, const std::string& instructions,
           const ModelFolder& folder, env::StepRule rule);
  // Calls use(group) for each in order; one for which it throws Error is left out, a failure.
  void use_each(const std::function<void(const TrainGroup& group)>& use);

  std::vector<TrainGroup> groups;
  int failed = 0;
  std::string failure;  // why the last one failed
};

// No roll-out of the groups has two steps (segments think and step).
bool is_single_step(std::span<const TrainGroup> groups);

// A group as credit sees it, later observations among its segments. Throws as credit_rollout.
CreditGroup credit_group(const TrainGroup& group, const std::map<std::string, double>& weights,
                         const Tokenizer& tokenizer);

}  // namespace agon::agents
