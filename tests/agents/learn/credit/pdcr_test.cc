#include <catch2/catch.hpp>

#include "agents/learn/credit/otsu.h"
#include "core/error.h"
#include "fixtures/credit.h"

using namespace agon::test;
using agon::Error;
using agon::Json;
using agon::agents::make_credit;
using agon::agents::otsu_threshold;
using agon::agents::OtsuThreshold;
using Catch::Matchers::Contains;
using Doubles = std::vector<double>;

namespace {

GroupCredit assign_pdcr(const CreditGroup& group, const Json& settings = {}) {
  return make_credit("pdcr", settings)->assign(group);
}

// V of four steps, two of them visual.
const Doubles kVisual = {0.1, 1.1, 0, 1};

}  // namespace

TEST_CASE("Otsu: the threshold lies between the parts, or on the lower one as printed", "[credit][pdcr]") {
  REQUIRE(*otsu_threshold(kVisual, OtsuThreshold::midpoint) == Approx(0.55));
  REQUIRE(*otsu_threshold(kVisual, OtsuThreshold::literal) == 0.1);
  REQUIRE(*otsu_threshold(Doubles{5, 1, 1, 1}, OtsuThreshold::midpoint) == 3);
  REQUIRE(*otsu_threshold(Doubles{2, 1}, OtsuThreshold::literal) == 1);
  REQUIRE_FALSE(otsu_threshold(Doubles{}, OtsuThreshold::midpoint));
  REQUIRE_FALSE(otsu_threshold(Doubles{1}, OtsuThreshold::midpoint));
  REQUIRE_FALSE(otsu_threshold(Doubles{1, 1, 1}, OtsuThreshold::midpoint));
}

TEST_CASE("Otsu's split has the least sum of squares of all splits", "[credit][pdcr]") {
  const auto squares = [](const Doubles& part) {
    double mean = 0, sum = 0;
    for (const double value : part) mean += value / static_cast<double>(part.size());
    for (const double value : part) sum += (value - mean) * (value - mean);
    return sum;
  };
  agon::Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    Doubles values;
    for (int n = rng.between(2, 9); n > 0; --n) values.push_back(rng.normal() * 3);
    const auto cost = [&](double threshold) {
      Doubles low, high;
      for (const double value : values) (value >= threshold ? high : low).push_back(value);
      return squares(low) + squares(high);
    };
    double least = 1e9;
    for (const double threshold : values) least = std::min(least, cost(threshold));
    REQUIRE(cost(*otsu_threshold(values, OtsuThreshold::midpoint)) == Approx(least).margin(1e-9));
  }
}

TEST_CASE("PDCR: gains, returns, clusters and advantages worked by hand", "[credit][pdcr]") {
  const CreditGroup group = {stepped(1, {-4, -3, -1, -1.5, -0.5}, kVisual), stepped(0, {-4, -5}, {2})};
  const GroupCredit credit = assign_pdcr(group, {{"gamma", 0.5}});
  const Json& first = credit.rollout_figures[0];
  REQUIRE(first["g"] == Json({1, 2, -0.5, 1}));
  REQUIRE(first["G"] == Json({2, 2, 0, 1}));  // from the back: 1, -.5 + .5, 2 + 0, 1 + 1
  REQUIRE(first["V"] == Json(kVisual));
  REQUIRE(first["threshold"].get<double>() == Approx(0.55));
  REQUIRE(first["clusters"] == Json({"textual", "visual", "textual", "visual"}));
  REQUIRE(credit.rollout_figures[1]["threshold"].is_null());
  REQUIRE(credit.rollout_figures[1]["clusters"] == Json({"textual"}));  // one step cannot be split
  // textual returns 2, 0, -1; visual 2, 1
  const Doubles process = first["process_advantage"].get<Doubles>();
  REQUIRE_THAT(process, Catch::Approx(Doubles{1, 1, 1.0 / 3, 0}));
  REQUIRE(credit.rollout_figures[1]["process_advantage"] == Json::array({0}));
  const double outcome = 0.5 / (0.5 * std::sqrt(2.0) + 1e-6);
  for (std::size_t k = 0; k < 4; ++k)
    REQUIRE(credit.rollouts[0].advantage[k] == Approx(0.7 * outcome + 0.3 * process[k]));
  REQUIRE(credit.rollouts[0].advantage[4] == Approx(0.7 * outcome));  // the answer is not a step
  REQUIRE(credit.rollouts[1].advantage[0] == Approx(-0.7 * outcome));
  REQUIRE(credit.rollouts[0].weight[0] == Approx(1.0 / 7));
  REQUIRE(credit.rollouts[0].kl[0] == 0.01f);
  REQUIRE(credit.figures["visual_steps"] == 2);
  REQUIRE(credit.figures["visual_share"] == 0.4);
}

TEST_CASE("PDCR: the printed rule makes the lower border visual", "[credit][pdcr]") {
  const GroupCredit credit = assign_pdcr({stepped(1, {0, 0, 0, 0, 0}, kVisual)}, {{"threshold", "literal"}});
  REQUIRE(credit.rollout_figures[0]["clusters"] == Json({"visual", "visual", "textual", "visual"}));
  REQUIRE(credit.rollout_figures[0]["process_advantage"] == Json({0, 0, 0, 0}));  // all returns are equal
}

TEST_CASE("PDCR: splits by rank and at random have the share asked for, none is PACR", "[credit][pdcr]") {
  const CreditGroup group = {stepped(1, {-4, -3, -1, -1.5, -0.5}, kVisual),
                             stepped(0, {-4, -5, -6, -7, -6.5}, kVisual)};
  const GroupCredit ranked = assign_pdcr(group, {{"split", "top_k"}, {"visual_share", 0.25}});
  REQUIRE(ranked.rollout_figures[0]["clusters"] == Json({"textual", "visual", "textual", "textual"}));
  const Json random = {{"split", "random"}, {"visual_share", 0.5}, {"seed", 4}};
  const GroupCredit drawn = assign_pdcr(group, random);
  REQUIRE(drawn.figures["visual_steps"] == 4);
  REQUIRE(drawn.rollout_figures == assign_pdcr(group, random).rollout_figures);
  bool differs = false;
  for (int seed = 5; seed < 12; ++seed)
    differs |= assign_pdcr(group, {{"split", "random"}, {"visual_share", 0.5}, {"seed", seed}}).rollout_figures !=
               drawn.rollout_figures;
  REQUIRE(differs);

  const GroupCredit pacr = make_credit("pacr")->assign(group);
  REQUIRE(pacr.rollouts[0].advantage == assign_pdcr(group, {{"split", "none"}}).rollouts[0].advantage);
  REQUIRE_FALSE(pacr.rollout_figures[0].contains("clusters"));
  CreditGroup without_pictures = group;
  for (CreditRollout& rollout : without_pictures) rollout.step_visual.clear();
  REQUIRE(make_credit("pacr")->assign(without_pictures).rollouts[1].advantage == pacr.rollouts[1].advantage);
}

TEST_CASE("PDCR: returns that differ by less than log-probabilities are known to are equal", "[credit][pdcr]") {
  const auto process = [](double difference) {
    const GroupCredit credit = assign_pdcr({stepped(1, {0, 1}, {0}), stepped(1, {0, 1 + difference}, {0})});
    return credit.rollout_figures[1]["process_advantage"].get<Doubles>().at(0) +
           credit.rollout_figures[0]["process_advantage"].get<Doubles>().at(0);
  };
  CHECK(process(1e-7) == 0);
  CHECK(process(-5e-5) == 0);
  CHECK(process(1e-3) == 1);
  CHECK(process(-2) == 1);
}

TEST_CASE("PDCR: center takes the mean of the cluster away", "[credit][pdcr]") {
  const GroupCredit credit = assign_pdcr({stepped(1, {0, 1, 1, 3}, {0, 0, 0})}, {{"center", true}});  // returns 3, 2, 2
  const Doubles process = credit.rollout_figures[0]["process_advantage"].get<Doubles>();
  REQUIRE_THAT(process, Catch::Approx(Doubles{2.0 / 3, -1.0 / 3, -1.0 / 3}).margin(1e-12));
}

TEST_CASE("PDCR: pools and thresholds of one prompt or of the batch", "[credit][pdcr]") {
  const CreditGroup one = {stepped(1, {0, 1, 3}, {0, 1})}, other = {stepped(1, {0, 5, 15}, {4, 5})};
  const auto process = [&](const Json& settings, std::size_t group) {
    const auto credits = make_credit("pdcr", settings)->assign_batch({one, other});
    return credits[group].rollout_figures[0]["process_advantage"].get<Doubles>();
  };
  REQUIRE(process({}, 0) == Doubles{0, 0});  // each cluster has a single return
  REQUIRE(process({{"pool", "batch"}}, 0) == Doubles{0, 0});
  REQUIRE(process({{"pool", "batch"}}, 1) == Doubles{1, 1});
  const auto batch = make_credit("pdcr", {{"otsu", "batch"}})->assign_batch({one, other});
  REQUIRE(batch[0].rollout_figures[0]["clusters"] == Json({"textual", "textual"}));
  REQUIRE(batch[1].rollout_figures[0]["clusters"] == Json({"visual", "visual"}));
  REQUIRE(batch[0].rollout_figures[0]["threshold"] == 2.5);
}

TEST_CASE("PDCR: steps and numbers must fit", "[credit][pdcr]") {
  CreditRollout rollout = stepped(1, {-4, -3, -2}, {1, 2});
  rollout.step_confidence.pop_back();
  REQUIRE_THROWS_WITH(assign_pdcr({rollout}),
                      Contains("roll-out 0 has 2 entries in step_confidence; its 2 steps") && Contains("need 3"));
  rollout = stepped(1, {-4, -3, -2}, {1});
  REQUIRE_THROWS_WITH(assign_pdcr({rollout}), Contains("1 entries in step_visual"));
  REQUIRE_NOTHROW(assign_pdcr({rollout}, {{"split", "random"}}));
  rollout = stepped(1, {-4, -1.0 / 0.0, -2}, {1, 2});
  REQUIRE_THROWS_WITH(assign_pdcr({rollout}), Contains("-inf in step_confidence"));
  rollout = answered(1);
  rollout.step_confidence = {-4, -3};
  REQUIRE_THROWS_WITH(assign_pdcr({rollout}), Contains("its 0 steps (segments think and step) need 1"));
  const GroupCredit without_steps = assign_pdcr({answered(1), answered(0)});
  REQUIRE(without_steps.rollouts[0].advantage[0] == Approx(0.7 * 0.5 / (std::sqrt(0.5) + 1e-6)));
  REQUIRE(without_steps.figures["steps"] == 0);
}
