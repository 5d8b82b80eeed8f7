// agents/learn/credit/group.h - what the methods of credit share: the checks of a group, the group advantage, and the
// ways to spread numbers over the tokens of a group. The number of a roll-out counts from 0.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "agents/learn/credit/settings.h"

namespace agon::agents {

// Most tokens of a group; a group is held in memory with three numbers a token.
inline constexpr int kMostGroupTokens = 1 << 24;

// Rewards and log-probabilities go no further from 0, so that sums of their squares are finite.
inline constexpr double kGreatestNumber = 1e30;

// Which tokens of a group: those of segments for which it holds.
using TokenMask = std::function<bool(std::size_t rollout, const CreditSegment& segment)>;

// Tokens that the policy wrote.
bool is_written(std::size_t rollout, const CreditSegment& segment);
// The two disjoint masks of ADPO (Eq. 11): the score, and everything else that was written.
bool is_score(std::size_t rollout, const CreditSegment& segment);
bool is_answer(std::size_t rollout, const CreditSegment& segment);
// The tokens of `mask` in the roll-outs that are kept. REQUIRES: one entry of `kept` a roll-out; a copy is held.
TokenMask of_kept(std::vector<bool> kept, TokenMask mask);

int count_tokens(const CreditRollout& rollout, std::size_t number, const TokenMask& mask);

// Throws Error for an empty group, a reward that is not finite, a negative number of tokens or turn, too many tokens.
void check_group(const CreditGroup& group, std::string_view method);
// Throws Error unless every roll-out says of its two turns whether they were right, and has no token of a third.
void check_two_turns(const CreditGroup& group, std::string_view method);

// Of the group's shape: every number 0, figures empty objects.
GroupCredit no_credit(const CreditGroup& group);
// For each token of `mask`, the number of its roll-out. REQUIRES: one value a roll-out.
using TokenNumbers = std::vector<float> TokenCredit::*;
void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                std::span<const double> values);
void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                double value);

// The mean that a loss is: over responses of the mean over their tokens, or over all tokens alike.
enum class LossMean { sequence, token };
LossMean read_loss_mean(CreditSettings& settings, LossMean value);  // setting "mean"

// Sets the weights of the tokens of `mask`, which sum to 1, and the mass.
//   sequence: 1 / (responses * tokens of the response in the mask); responses without such a token count as well.
//             `responses`: those that count; the mass.
//   token:    1 / tokens of the mask in the group; these are the mass.
void weigh(GroupCredit& credit, const CreditGroup& group, const TokenMask& mask, LossMean mean, int responses);
// The group is dropped: weights and mass 0.
void drop(GroupCredit& credit, std::string why);
// The credit, dropped if no token has a weight.
GroupCredit finished(GroupCredit credit);

// One advantage for every token of a response: credit of the tokens of `mask`, which all have the KL coefficient `kl`,
// with the figures "reward" and "group_advantage". REQUIRES: one reward and one advantage a roll-out.
GroupCredit credit_responses(const CreditGroup& group, const TokenMask& mask, std::span<const double> rewards,
                             std::span<const double> advantages, double kl, LossMean mean);

std::vector<double> answer_rewards(const CreditGroup& group);
bool all_equal(std::span<const double> values);
double mean_of(std::span<const double> values);  // REQUIRES: not empty

// How the deviation of a group enters: settings "std" (unbiased, biased, none; true and false stand for the first and
// the last) and "epsilon", which is added to it.
struct GroupScale {
  enum class Deviation { unbiased, biased, none } deviation = Deviation::unbiased;
  double epsilon = 1e-6;
};
GroupScale read_group_scale(CreditSettings& settings, bool by_deviation = true);
// A_i = (r_i - mean) / (std + epsilon), or r_i - mean. Exactly 0 where all are equal, as in a group of one.
std::vector<double> group_advantage(std::span<const double> rewards, const GroupScale& scale);

}  // namespace agon::agents
