// agents/learn/credit.h - credit: what each token of a group's roll-outs is worth. Every method of learning is a
// function from a group to per-token numbers of one loss (agents/learn/policy_loss.h):
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

// Consecutive tokens of one kind. kind `tool`: not written by the policy (a later observation, a tool's result) - its
// tokens get weight 0.
struct CreditSegment {
  env::SegmentKind kind = env::SegmentKind::answer;
  int tokens = 0;
  int turn = 0;  // from 0
  bool operator==(const CreditSegment&) const = default;
};

// One roll-out of a group, as far as credit depends on it.
struct CreditRollout {
  double answer_reward = 0;
  bool correct = false;
  std::optional<double> score;  // in [0, 1]; nothing: missing or invalid
  std::vector<CreditSegment> segments;
  std::vector<bool> turn_correct;       // two-turn methods: of the first and second answer
  std::vector<double> step_confidence;  // PDCR, PACR: c_0 .. c_K, log-probability of the gold answer after each step
  std::vector<double> step_visual;      // PDCR: V_1 .. V_K
  bool truncated = false;               // cut at the limit of tokens
  int tokens() const;                   // of all segments
};
using CreditGroup = std::vector<CreditRollout>;  // the roll-outs of one task

struct TokenCredit {
  std::vector<float> advantage, kl, weight;  // one entry a token of the roll-out; weight 0: not trained
};

struct GroupCredit {
  std::vector<TokenCredit> rollouts;
  // How much the group counts beside the others of a batch: its sequences, or its tokens where the method takes the
  // mean over tokens. The weights above are those of the group alone (its loss is their plain sum); in a batch they are
  // multiplied by mass / sum of all masses, so that a batch's loss is one mean and not a mean of means.
  double mass = 0;
  std::string
      filtered;  // why the method drops this group ("zero advantage"); empty: it is trained. Weights are then 0.
  Json figures = Json::object();      // of the group: {"error_rate", "beta1", ...}
  std::vector<Json> rollout_figures;  // of each roll-out: {"preference_reward", ...}
};

class CreditAssigner {
 public:
  virtual ~CreditAssigner() = default;
  // Throws Error for a group that lacks what the method needs (turns, steps) and for a reward that is not finite.
  virtual GroupCredit assign(const CreditGroup& group) const = 0;
  virtual std::string_view name() const = 0;
};

// The methods by name, and each with its settings and their defaults ({"kl": 0.01, "epsilon": 1e-6, ...}).
std::vector<std::string> credit_methods();
Json credit_defaults(const std::string& method);
// `settings` holds the settings that differ from the defaults. Throws Error for an unknown method or setting (naming
// the nearest), and for a value of another type or out of range.
std::unique_ptr<CreditAssigner> make_credit(const std::string& method, const Json& settings = Json::object());

}  // namespace agon::agents
