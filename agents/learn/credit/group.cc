#include "agents/learn/credit/group.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "core/error.h"

namespace agon::agents {
namespace {

void check_segments(const CreditRollout& rollout, std::size_t number, std::string_view method) {
  for (const CreditSegment& segment : rollout.segments) {
    if (segment.tokens < 0)
      throw Error("credit: {}: roll-out {} has a segment of {} tokens; give 0 or more.", method, number,
                  segment.tokens);
    if (segment.turn < 0)
      throw Error("credit: {}: roll-out {} has a segment of turn {}; turns count from 0.", method, number,
                  segment.turn);
  }
}

}  // namespace

int CreditRollout::tokens() const {
  return std::accumulate(segments.begin(), segments.end(), 0,
                         [](int sum, const CreditSegment& segment) { return sum + segment.tokens; });
}

bool is_written(std::size_t, const CreditSegment& segment) { return segment.kind != env::SegmentKind::tool; }

TokenMask of_kept(std::vector<bool> kept, TokenMask mask) {
  return [kept = std::move(kept), mask = std::move(mask)](std::size_t rollout, const CreditSegment& segment) {
    return kept[rollout] && mask(rollout, segment);
  };
}

int count_tokens(const CreditRollout& rollout, std::size_t number, const TokenMask& mask) {
  int tokens = 0;
  for (const CreditSegment& segment : rollout.segments)
    if (mask(number, segment)) tokens += segment.tokens;
  return tokens;
}

void check_group(const CreditGroup& group, std::string_view method) {
  if (group.empty()) throw Error("credit: {}: the group is empty; give at least one roll-out.", method);
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!(std::abs(group[i].answer_reward) <= kGreatestNumber))
      throw Error("credit: {}: roll-out {} has the answer_reward {}; rewards are finite numbers of at most {:g}.",
                  method, i, group[i].answer_reward, kGreatestNumber);
    check_segments(group[i], i, method);
    for (const CreditSegment& segment : group[i].segments) tokens += segment.tokens;
    if (tokens > kMostGroupTokens)
      throw Error("credit: {}: the group has more than {} tokens up to roll-out {}; give it in parts.", method,
                  kMostGroupTokens, i);
  }
}

void check_two_turns(const CreditGroup& group, std::string_view method) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (group[i].turn_correct.size() != 2)
      throw Error("credit: {}: roll-out {} has {} entries in turn_correct; the method needs two, one for each answer.",
                  method, i, group[i].turn_correct.size());
    for (const CreditSegment& segment : group[i].segments)
      if (segment.turn > 1)
        throw Error("credit: {}: roll-out {} has a segment of turn {}; the method knows the turns 0 and 1.", method, i,
                    segment.turn);
  }
}

GroupCredit no_credit(const CreditGroup& group) {
  GroupCredit credit;
  for (const CreditRollout& rollout : group) {
    const std::vector<float> zeros(static_cast<std::size_t>(rollout.tokens()));
    credit.rollouts.push_back({zeros, zeros, zeros});
    credit.rollout_figures.push_back(Json::object());
  }
  return credit;
}

void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                std::span<const double> values) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    auto token = (credit.rollouts[i].*numbers).begin();
    for (const CreditSegment& segment : group[i].segments) {
      if (mask(i, segment)) std::fill_n(token, segment.tokens, static_cast<float>(values[i]));
      token += segment.tokens;
    }
  }
}

void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                double value) {
  set_tokens(credit, numbers, group, mask, std::vector<double>(group.size(), value));
}

LossMean read_loss_mean(CreditSettings& settings, LossMean value) {
  const std::vector<std::string> sequence_first = {"sequence", "token"}, token_first = {"token", "sequence"};
  const bool sequence = value == LossMean::sequence;
  return settings.choice("mean", sequence ? sequence_first : token_first) == "sequence" ? LossMean::sequence
                                                                                        : LossMean::token;
}

void weigh(GroupCredit& credit, const CreditGroup& group, const TokenMask& mask, LossMean mean, int responses) {
  std::vector<double> tokens;
  for (std::size_t i = 0; i < group.size(); ++i) tokens.push_back(count_tokens(group[i], i, mask));
  const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  std::vector<double> weights;
  for (const double own : tokens) weights.push_back(1 / (mean == LossMean::token ? all : responses * own));
  set_tokens(credit, &TokenCredit::weight, group, mask, weights);
  credit.mass = mean == LossMean::token ? all : responses;
}

void drop(GroupCredit& credit, std::string why) {
  for (TokenCredit& rollout : credit.rollouts) std::fill(rollout.weight.begin(), rollout.weight.end(), 0.0f);
  credit.mass = 0;
  credit.filtered = std::move(why);
}

GroupCredit finished(GroupCredit credit) {
  const bool trained = std::any_of(credit.rollouts.begin(), credit.rollouts.end(), [](const TokenCredit& rollout) {
    return std::any_of(rollout.weight.begin(), rollout.weight.end(), [](float weight) { return weight > 0; });
  });
  if (!trained && credit.filtered.empty()) drop(credit, "no token to train");
  return credit;
}

GroupCredit credit_responses(const CreditGroup& group, const TokenMask& mask, std::span<const double> rewards,
                             std::span<const double> advantages, double kl, LossMean mean) {
  GroupCredit credit = no_credit(group);
  set_tokens(credit, &TokenCredit::advantage, group, mask, advantages);
  set_tokens(credit, &TokenCredit::kl, group, mask, kl);
  weigh(credit, group, mask, mean, static_cast<int>(group.size()));
  for (std::size_t i = 0; i < group.size(); ++i)
    credit.rollout_figures[i] = {{"reward", rewards[i]}, {"group_advantage", advantages[i]}};
  return finished(std::move(credit));
}

std::vector<double> answer_rewards(const CreditGroup& group) {
  std::vector<double> rewards;
  for (const CreditRollout& rollout : group) rewards.push_back(rollout.answer_reward);
  return rewards;
}

bool all_equal(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

GroupScale read_group_scale(CreditSettings& settings, bool by_deviation) {
  GroupScale scale;
  const Json given = settings.raw("std", by_deviation ? "unbiased" : "none");
  if (given == "unbiased" || given == true)
    scale.deviation = GroupScale::Deviation::unbiased;
  else if (given == "biased")
    scale.deviation = GroupScale::Deviation::biased;
  else if (given == "none" || given == false)
    scale.deviation = GroupScale::Deviation::none;
  else
    settings.refuse("std", "unbiased, biased or none");
  scale.epsilon = settings.number("epsilon", scale.epsilon, 0);
  return scale;
}

std::vector<double> group_advantage(std::span<const double> rewards, const GroupScale& scale) {
  std::vector<double> advantage(rewards.size());
  if (rewards.empty() || all_equal(rewards)) return advantage;
  const double mean = mean_of(rewards);
  double squares = 0;
  for (const double reward : rewards) squares += (reward - mean) * (reward - mean);
  const bool biased = scale.deviation == GroupScale::Deviation::biased;
  const double deviation = std::sqrt(squares / static_cast<double>(rewards.size() - (biased ? 0 : 1)));
  const double divisor = scale.deviation == GroupScale::Deviation::none ? 1 : deviation + scale.epsilon;
  for (std::size_t i = 0; i < rewards.size(); ++i) advantage[i] = (rewards[i] - mean) / divisor;
  return advantage;
}

}  // namespace agon::agents
