// agents/learn/credit/credit.h - credit assignment: how much each token of a group's roll-outs contributes to
// learning. Every method is a function from a group to the per-token numbers of one loss
// (agents/learn/loop/policy_loss.h):
//   sum over tokens of weight * ( -min(ratio * advantage, clip(ratio) * advantage) + kl * k3 ).
// No torch here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "env/protocol.h"

namespace agon::agents {

// Consecutive tokens of one kind. kind `tool`: not written by the policy (a later observation, a tool's result); its
// tokens get weight 0.
struct CreditSegment {
  env::SegmentKind kind = env::SegmentKind::answer;
  int tokens = 0;
  int turn = 0;  // from 0
  bool operator==(const CreditSegment&) const = default;
};

// One roll-out of a group: the parts that credit depends on.
struct CreditRollout {
  double answer_reward = 0;
  bool correct = false;
  std::optional<double> score;  // in [0, 1]; nothing: missing or invalid
  std::vector<CreditSegment> segments;
  std::vector<bool> turn_correct;       // two-turn methods: for the first and second answer
  std::vector<double> step_confidence;  // PDCR, PACR: c_0 .. c_K, log-probability of the gold answer after each step
  std::vector<double> step_visual;      // PDCR: V_1 .. V_K
  bool truncated = false;               // cut at the limit of tokens, or by the context
  int tokens() const;                   // of all segments
};
using CreditGroup = std::vector<CreditRollout>;  // the roll-outs of one task

struct TokenCredit {
  std::vector<float> advantage, kl, weight;  // one entry per token of the roll-out; weight 0: not trained
};

struct GroupCredit {
  std::vector<TokenCredit> rollouts;
  // The weight of the group in a batch: its number of sequences, or of tokens if the method takes the mean over tokens.
  // The weights above normalise the loss of the group alone. In a batch they are multiplied by mass / sum of all
  // masses, so that the batch's loss is one mean and not a mean of means.
  double mass = 0;
  std::string
      filtered;  // why the method drops this group ("zero advantage"; its weights are then 0); empty: it is trained
  Json figures = Json::object();      // of the group: {"P", "beta1", ...}
  std::vector<Json> rollout_figures;  // of each roll-out: {"preference_reward", ...}
};

// The loss clips the ratio: clip(ratio, 1 - low, 1 + high).
struct Clip {
  double low = 0.2, high = 0.2;
  bool operator==(const Clip&) const = default;
};

class CreditAssigner {
 public:
  virtual ~CreditAssigner() = default;
  // Throws Error for a group that is empty, that lacks what the method needs (turns, steps), or that holds a number
  // out of range: a reward or log-probability that is not finite, a negative number of tokens. A response without
  // tokens counts as a response; a group of one has no advantage.
  virtual GroupCredit assign(const CreditGroup& group) const = 0;
  // Credit of all groups of a batch. The same as assign() one by one, except for settings that pool over the batch.
  virtual std::vector<GroupCredit> assign_batch(const std::vector<CreditGroup>& groups) const;
  virtual std::string_view name() const = 0;
  // False: the method uses only which answers are right, not the reward (answer_reward).
  virtual bool uses_reward() const { return true; }
  // True: a roll-out has two answers (turn_correct).
  virtual bool needs_two_turns() const { return false; }
  // True: the roll-outs must have step_confidence; needs_visual: step_visual too.
  virtual bool needs_confidence() const { return false; }
  virtual bool needs_visual() const { return false; }
  // The clip that the method's paper trains with.
  virtual Clip clip() const { return {}; }
  // True for the methods that imitate (SFT, STaR): their loss is the plain negative log-likelihood of the tokens with a
  // weight. The advantage is 1, and the caller uses the current log-probabilities, detached, as those of the behaviour
  // policy. The ratio is then 1, with the gradient of the log-likelihood, whoever wrote the tokens.
  virtual bool imitates() const { return false; }
};

// The names of the methods, in the order of docs/credit.md, and a one-line description of each.
std::vector<std::string> credit_methods();
std::string credit_description(const std::string& method);
// All settings of a method, resolved: `settings` over the defaults ({"kl": 0.01, "epsilon": 1e-6, ...}).
Json credit_settings(const std::string& method, const Json& settings = Json::object());
// `settings` holds the settings that differ from the defaults. Throws Error for an unknown method or setting (naming
// the nearest), and for a value of another type or out of range.
std::unique_ptr<CreditAssigner> make_credit(const std::string& method, const Json& settings = Json::object());

}  // namespace agon::agents
