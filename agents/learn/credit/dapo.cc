// DAPO (Yu et al. 2025): GRPO's advantage, the mean over tokens, an upper clip of 0.28, groups without contrast
// dropped, and a soft punishment of responses near the limit of tokens.
#include <algorithm>
#include <map>

#include "agents/learn/credit/group.h"
#include "agents/learn/credit/methods.h"
#include "core/error.h"

namespace agon::agents {
namespace {

// Tokens of the policy's longest turn: max_tokens limits each turn by itself.
int longest_turn(const CreditRollout& rollout) {
  std::map<int, int> tokens;
  int longest = 0;
  for (const CreditSegment& segment : rollout.segments)
    if (is_written(0, segment)) longest = std::max(longest, tokens[segment.turn] += segment.tokens);
  return longest;
}

struct Overlong {
  int max_tokens = 0, buffer = 0;  // buffer 0: no punishment
  double penalty = 1;

  // 0 up to max_tokens - buffer, from there down linearly to -penalty at max_tokens.
  double punishment(int tokens) const {
    if (buffer == 0) return 0;
    const double into_buffer = tokens - (max_tokens - buffer);
    return -penalty * std::clamp(into_buffer / buffer, 0.0, 1.0);
  }
};

struct DapoSettings {
  double kl = 0;
  GroupScale scale;
  LossMean mean = LossMean::token;
  bool dynamic_sampling = true, by_rewards = false;
  Overlong overlong;
};

class Dapo : public CreditAssigner {
 public:
  explicit Dapo(DapoSettings settings) : settings_(settings) {}

  GroupCredit assign(const CreditGroup& group) const override {
    check_group(group, name());
    std::vector<double> rewards = answer_rewards(group), punishments;
    for (std::size_t i = 0; i < group.size(); ++i) {
      punishments.push_back(settings_.overlong.punishment(longest_turn(group[i])));
      rewards[i] += punishments[i];
    }
    const std::vector<double> advantage = group_advantage(rewards, settings_.scale);
    GroupCredit credit = credit_responses(group, is_written, rewards, advantage, settings_.kl, settings_.mean);
    if (settings_.overlong.buffer > 0)
      for (std::size_t i = 0; i < group.size(); ++i) credit.rollout_figures[i]["overlong"] = punishments[i];
    if (settings_.dynamic_sampling && credit.filtered.empty()) filter(credit, group, rewards);
    return credit;
  }
  std::string_view name() const override { return "dapo"; }
  Clip clip() const override { return {0.2, 0.28}; }

 private:
  void filter(GroupCredit& credit, const CreditGroup& group, const std::vector<double>& rewards) const {
    const auto right = std::count_if(group.begin(), group.end(), [](const CreditRollout& one) { return one.correct; });
    if (settings_.by_rewards && all_equal(rewards)) drop(credit, "all rewards are equal");
    if (!settings_.by_rewards && right == 0) drop(credit, "all are wrong");
    if (!settings_.by_rewards && right == std::ssize(group)) drop(credit, "all are right");
  }

  DapoSettings settings_;
};

Overlong read_overlong(CreditSettings& settings) {
  Overlong overlong;
  overlong.buffer = settings.whole("overlong_buffer", 0, 0);
  overlong.max_tokens = settings.whole("max_tokens", 256, 1);
  overlong.penalty = settings.number("overlong_penalty", 1, 0);
  if (overlong.buffer > overlong.max_tokens)
    settings.refuse("overlong_buffer", "at most max_tokens (" + std::to_string(overlong.max_tokens) + ")");
  return overlong;
}

}  // namespace

std::unique_ptr<CreditAssigner> make_dapo(CreditSettings& settings) {
  DapoSettings read;
  read.kl = settings.number("kl", 0, 0);
  read.scale = read_group_scale(settings);
  read.mean = read_loss_mean(settings, LossMean::token);
  read.dynamic_sampling = settings.flag("dynamic_sampling", true);
  read.by_rewards = settings.choice("filter_on", {"accuracy", "rewards"}) == "rewards";
  read.overlong = read_overlong(settings);
  return std::make_unique<Dapo>(read);
}

}  // namespace agon::agents
