#include "agents/learn/loop/ranking_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "paths.h"
#include "torch_catch.h"

using namespace agon;
using namespace agon::agents;

namespace {

double loss_of(RankingLoss loss, const std::vector<double>& scores, const std::vector<std::int64_t>& order,
               const std::vector<int>& rank) {
  return ranking_loss(loss, at::tensor(scores, at::kDouble), order, rank).item<double>();
}

}  // namespace

TEST_CASE("Ranking losses equal scipy's on its golden sets") {
  const Json golden = Json::parse(read_file(agon::test::golden_path("ranking/losses.json")));
  REQUIRE(golden.at("sets").size() == 20);
  for (const Json& one : golden.at("sets")) {
    const std::vector<double> scores = one.at("scores");
    const std::vector<std::int64_t> order = one.at("order");
    const std::vector<int> rank = one.at("rank");
    CHECK(loss_of(RankingLoss::cross_entropy, scores, order, rank) == Approx(one["cross_entropy"].get<double>()));
    CHECK(loss_of(RankingLoss::plackett_luce, scores, order, rank) == Approx(one["plackett_luce"].get<double>()));
    if (one.at("bradley_terry").is_number())
      CHECK(loss_of(RankingLoss::bradley_terry, scores, order, rank) == Approx(one["bradley_terry"].get<double>()));
    else
      CHECK(!ranking_loss(RankingLoss::bradley_terry, at::tensor(scores), order, rank).defined());
  }
}

TEST_CASE("Of two responses all ranking losses are the same") {
  const double expected = loss_of(RankingLoss::bradley_terry, {0.3, -1.2}, {1, 0}, {2, 1});
  CHECK(loss_of(RankingLoss::cross_entropy, {0.3, -1.2}, {1, 0}, {2, 1}) == Approx(expected));
  CHECK(loss_of(RankingLoss::plackett_luce, {0.3, -1.2}, {1, 0}, {2, 1}) == Approx(expected));
}

TEST_CASE("A ranking loss has the gradient of the softmax, and large scores do not overflow") {
  const at::Tensor scores = at::tensor({1000.0, 1001.0, 900.0}, at::kDouble).requires_grad_(true);
  ranking_loss(RankingLoss::cross_entropy, scores, std::vector<std::int64_t>{0, 1, 2}, std::vector<int>{1, 2, 3})
      .backward();
  CHECK(scores.grad()[0].item<double>() == Approx(1 / (1 + std::exp(1.0)) - 1));
  CHECK(scores.grad()[1].item<double>() == Approx(std::exp(1.0) / (1 + std::exp(1.0))));
  CHECK(parse_ranking_loss("plackett-luce") == RankingLoss::plackett_luce);
  CHECK_THROWS_WITH(parse_ranking_loss("plackett-luse"), Catch::Contains("Did you mean 'plackett-luce'"));
}
