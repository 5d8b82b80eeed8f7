// agents/learn/loop/ranking_loss.h - losses on the scores of the responses to one prompt (YOJO, Eq. 1, 5, Table 5c).
// Letters: N responses, r [N] their scores.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

namespace agon::agents {

// cross_entropy     -log(exp r_best / sum_i exp r_i)
// bradley_terry     mean of -log sigmoid(r_w - r_l) over the pairs in which w is better than l
// plackett_luce     -sum_k log(exp r_(k) / sum_{j >= k} exp r_(j)), (1), (2), ... from the best to the last
// With two responses all three are the same.
enum class RankingLoss { cross_entropy, bradley_terry, plackett_luce };
const std::vector<std::string>& ranking_loss_names();     // "cross-entropy", ...
RankingLoss parse_ranking_loss(const std::string& name);  // throws Error naming the nearest

// Whether the loss depends on the random order of ties in `rank` (1 is the best): cross_entropy if several are the
// best, plackett_luce if any are equal, bradley_terry never.
bool draws_ties(RankingLoss loss, std::span<const int> rank);

// order: the responses from the best to the last; rank: of each response; equal ranks are equally good (bradley_terry
// skips such pairs, the other losses use the order). Returns a scalar; undefined if no pair has different ranks.
at::Tensor ranking_loss(RankingLoss loss, const at::Tensor& scores, std::span<const std::int64_t> order,
                        std::span<const int> rank);

}  // namespace agon::agents
