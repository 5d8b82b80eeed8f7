// agents/learn/credit/group.h - the functions that credit methods share: checks of a group, the group advantage, and
// ways to spread numbers over the tokens of a group. Roll-outs are numbered from 0.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "agents/learn/credit/settings.h"

namespace agon::agents {

// Limit of tokens per group, since a group's three numbers per token are held in memory.
inline constexpr int kMostGroupTokens = 1 << 24;

// Limit of the absolute value of rewards and log-probabilities, so that sums of their squares are finite.
inline constexpr double kGreatestNumber = 1e30;

// Selects tokens of a group: all tokens of the segments for which it is true.
using TokenMask = std::function<bool(std::size_t rollout, const CreditSegment& segment)>;

// Selects tokens that the policy wrote.
bool is_written(std::size_t rollout, const CreditSegment& segment);
// The tokens of `mask` in the kept roll-outs. REQUIRES: `kept` has one entry per roll-out; it is copied.
TokenMask of_kept(std::vector<bool> kept, TokenMask mask);

int count_tokens(const CreditRollout& rollout, std::size_t number, const TokenMask& mask);

// Throws Error for an empty group, a reward that is not finite, a negative number of tokens or turn, too many tokens.
void check_group(const CreditGroup& group, std::string_view method);
// Throws Error unless every roll-out has turn_correct for its two turns, and no token of a third turn.
void check_two_turns(const CreditGroup& group, std::string_view method);

// Credit in the group's shape with all numbers 0 and empty figures.
GroupCredit no_credit(const CreditGroup& group);
// Sets, for each token of `mask`, the value of its roll-out. REQUIRES: one value per roll-out.
using TokenNumbers = std::vector<float> TokenCredit::*;
void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                std::span<const double> values);
void set_tokens(GroupCredit& credit, TokenNumbers numbers, const CreditGroup& group, const TokenMask& mask,
                double value);

// How a loss is averaged. sequence: mean over responses of the mean over their tokens; token: mean over all tokens.
enum class LossMean { sequence, token };
LossMean read_loss_mean(CreditSettings& settings, LossMean value);  // setting "mean"

// Sets the weights of the tokens of `mask` and the mass. The weights sum to 1 unless a counted response has no token.
//   sequence: 1 / (responses * tokens of the response in the mask). `responses` is the number of responses that count,
//             including those without such a token; it is also the mass.
//   token:    1 / tokens of the mask in the group; their number is the mass.
void weigh(GroupCredit& credit, const CreditGroup& group, const TokenMask& mask, LossMean mean, int responses);
// Drops the group: weights and mass become 0.
void drop(GroupCredit& credit, std::string why);
// Returns the credit, dropped if no token has a weight.
GroupCredit finished(GroupCredit credit);

// Credit with one advantage per response: for its tokens of `mask`, all with the KL coefficient `kl`. Sets the figures
// "reward" and "group_advantage". REQUIRES: one reward and one advantage per roll-out.
GroupCredit credit_responses(const CreditGroup& group, const TokenMask& mask, std::span<const double> rewards,
                             std::span<const double> advantages, double kl, LossMean mean);

std::vector<double> answer_rewards(const CreditGroup& group);
bool all_equal(std::span<const double> values);
double mean_of(std::span<const double> values);  // REQUIRES: not empty

// How the advantage uses the standard deviation of a group: settings "std" (unbiased, biased, none; true means
// unbiased, false none) and "epsilon", which is added to it.
struct GroupScale {
  enum class Deviation { unbiased, biased, none } deviation = Deviation::unbiased;
  double epsilon = 1e-6;
};
GroupScale read_group_scale(CreditSettings& settings, bool by_deviation = true);
// A_i = (r_i - mean) / (std + epsilon), or r_i - mean. Exactly 0 if all rewards are equal, as in a group of one.
std::vector<double> group_advantage(std::span<const double> rewards, const GroupScale& scale);

}  // namespace agon::agents
