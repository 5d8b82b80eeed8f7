#include "agents/learn/loop/ranking_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/logcumsumexp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/tensor.h>
#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

using at::Tensor;

Tensor places(const std::vector<std::int64_t>& values, const Tensor& like) {
  return at::tensor(values, at::kLong).to(like.device());
}

Tensor bradley_terry(const Tensor& scores, std::span<const int> rank) {
  std::vector<std::int64_t> better, worse;
  for (std::size_t a = 0; a < rank.size(); ++a)
    for (std::size_t b = 0; b < rank.size(); ++b) {
      if (rank[a] >= rank[b]) continue;
      better.push_back(static_cast<std::int64_t>(a));
      worse.push_back(static_cast<std::int64_t>(b));
    }
  if (better.empty()) return {};
  const Tensor margin = scores.index_select(0, places(better, scores)) - scores.index_select(0, places(worse, scores));
  return -at::log_sigmoid(margin).mean();
}

// The sum over the rest of a row, from each place on, is a cumulative sum from its end.
Tensor plackett_luce(const Tensor& scores, std::span<const std::int64_t> order) {
  const Tensor from_last = scores.index_select(0, places({order.rbegin(), order.rend()}, scores));
  return (at::logcumsumexp(from_last, 0) - from_last).sum();
}

}  // namespace

const std::vector<std::string>& ranking_loss_names() {
  static const std::vector<std::string> names{"cross-entropy", "bradley-terry", "plackett-luce"};
  return names;
}

RankingLoss parse_ranking_loss(const std::string& name) {
  const auto& names = ranking_loss_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<RankingLoss>(i);
  throw Error("{}", unknown_name_message("loss", name, names));
}

bool draws_ties(RankingLoss loss, std::span<const int> rank) {
  if (loss == RankingLoss::cross_entropy) return std::ranges::count(rank, 1) > 1;
  if (loss == RankingLoss::bradley_terry) return false;
  return std::ranges::any_of(rank, [&](int one) { return std::ranges::count(rank, one) > 1; });
}

Tensor ranking_loss(RankingLoss loss, const Tensor& scores, std::span<const std::int64_t> order,
                    std::span<const int> rank) {
  switch (loss) {
    case RankingLoss::bradley_terry:
      return bradley_terry(scores, rank);
    case RankingLoss::plackett_luce:
      return plackett_luce(scores, order);
    case RankingLoss::cross_entropy:
      break;
  }
  return at::logsumexp(scores, 0) - scores[order.front()];
}

}  // namespace agon::agents
