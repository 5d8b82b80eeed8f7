#include <catch2/catch.hpp>

#include "fixtures/credit.h"

using namespace agon::test;
using agon::Json;
using agon::agents::make_credit;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

namespace {

// A group with this many roll-outs of each type.
CreditGroup of_types(int n01, int n11, int n10, int n00) {
  CreditGroup group;
  const auto add = [&](int count, bool first, bool second) {
    for (int i = 0; i < count; ++i) group.push_back(two_turns(first, second));
  };
  add(n01, false, true);
  add(n11, true, true);
  add(n10, true, false);
  add(n00, false, false);
  return group;
}

GroupCredit assign_adapo(const CreditGroup& group, const Json& settings = {}) {
  return make_credit("adapo", settings)->assign(group);
}

void require_figures(const GroupCredit& credit, const Json& expected) {
  for (const auto& [name, value] : expected.items()) {
    CAPTURE(name);
    REQUIRE(credit.figures.at(name).get<double>() == Approx(value.get<double>()).margin(1e-12));
  }
}

}  // namespace

TEST_CASE("AdaPO: rewards and KL coefficients of the numbers worked by hand", "[credit][adapo]") {
  require_figures(assign_adapo(of_types(1, 0, 0, 1)),
                  {{"P", 1}, {"R01", 1.4}, {"R11", 0.6}, {"beta1", 0.009}, {"beta2", 0.001}});
  require_figures(assign_adapo(of_types(0, 1, 1, 0)),
                  {{"P", 0}, {"R01", 0.4}, {"R11", 1.6}, {"beta1", 0.001}, {"beta2", 0.013}});
  require_figures(assign_adapo(of_types(1, 1, 1, 1)),
                  {{"P", 0.5}, {"R01", 0.9}, {"R11", 1.1}, {"R10", -0.75}, {"R00", -1.25}, {"beta2", 0.003}});
}

TEST_CASE("AdaPO: the preset of Table 4 turns the signs of the right types round", "[credit][adapo]") {
  require_figures(assign_adapo(of_types(1, 1, 1, 1), {{"preset", "table4"}}),
                  {{"R01", 1.1}, {"R11", 0.9}, {"R10", -0.75}, {"R00", -1.25}, {"beta1", 0.003}, {"beta2", 0.001}});
  require_figures(assign_adapo(of_types(1, 1, 1, 1), {{"preset", "table4"}, {"k01", 2}}), {{"R01", 0.8}, {"R11", 0.9}});
}

TEST_CASE("AdaPO: one advantage for both turns, KL by turn, nothing for the question between", "[credit][adapo]") {
  const GroupCredit credit = assign_adapo(of_types(1, 1, 1, 1));
  // rewards .9, 1.1, -.75, -1.25: mean 0, unbiased std 1.175443
  const float a = 0.9f / 1.175443f, w = 1.0f / (4 * 5), b1 = 0.001f, b2 = 0.003f;
  REQUIRE(credit.rollouts[0].advantage[0] == Approx(a).epsilon(1e-5));
  REQUIRE(credit.rollouts[0].advantage[8] == credit.rollouts[0].advantage[0]);
  REQUIRE(credit.rollouts[0].weight == Floats{w, w, 0, 0, 0, 0, w, w, w});
  REQUIRE(credit.rollouts[0].kl == Floats{b1, b1, 0, 0, 0, 0, b2, b2, b2});
  REQUIRE(credit.rollout_figures[2]["type"] == "1->0");
  REQUIRE(credit.figures["types"] == Json({{"0->1", 1}, {"1->1", 1}, {"1->0", 1}, {"0->0", 1}}));
  REQUIRE(credit.mass == 4);
}

TEST_CASE("AdaPO: groups of one type are dropped, by c_y2, those with one outcome", "[credit][adapo]") {
  REQUIRE(assign_adapo(of_types(3, 0, 0, 0)).filtered == "zero advantage");
  REQUIRE(assign_adapo(of_types(0, 0, 0, 1)).filtered == "zero advantage");
  REQUIRE(assign_adapo(of_types(2, 2, 0, 0)).filtered.empty());
  REQUIRE(assign_adapo(of_types(2, 2, 0, 0), {{"filter_on", "c_y2"}}).filtered == "zero advantage");
  REQUIRE(assign_adapo(of_types(2, 0, 0, 2), {{"filter_on", "c_y2"}}).filtered.empty());
  REQUIRE(assign_adapo(of_types(2, 3, 0, 0), {{"theta", 0.4}}).filtered == "zero advantage");  // P = theta: R01 = R11
  const GroupCredit unfiltered = assign_adapo(of_types(3, 0, 0, 0), {{"filters", false}});
  REQUIRE(unfiltered.filtered.empty());
  REQUIRE(first_advantages(unfiltered) == Doubles{0, 0, 0});
  REQUIRE(sum_of_weights(unfiltered) == Approx(1));
}

TEST_CASE("AdaPO: truncated roll-outs are taken out before anything is counted", "[credit][adapo]") {
  CreditGroup group = of_types(1, 1, 0, 2);
  group[3].truncated = true;
  const GroupCredit credit = assign_adapo(group);
  require_figures(credit, {{"P", 2.0 / 3}});
  REQUIRE(credit.rollouts[3].weight == Floats(9, 0));
  REQUIRE(credit.rollouts[3].advantage == Floats(9, 0));
  REQUIRE(credit.rollouts[0].weight[0] == 1.0f / 15);
  REQUIRE(credit.mass == 3);
  REQUIRE(credit.rollout_figures[3]["dropped"] == "truncated");
  require_figures(assign_adapo(group, {{"filters", false}}), {{"P", 0.75}});
  for (CreditRollout& rollout : group) rollout.truncated = true;
  REQUIRE(assign_adapo(group).filtered == "every roll-out is truncated");
}

TEST_CASE("AdaPO without ARM or reward-aware KL, and with fixed rewards", "[credit][adapo]") {
  const CreditGroup hard = of_types(3, 0, 0, 1);
  require_figures(assign_adapo(hard, {{"arm", false}}),
                  {{"P", 1}, {"R01", 1}, {"R11", 1}, {"R10", -1}, {"R00", -1}, {"beta1", 0.001}, {"beta2", 0.001}});
  require_figures(assign_adapo(hard, {{"reward_aware_kl", false}}), {{"R01", 1.4}, {"beta1", 0.001}, {"beta2", 0.001}});
  require_figures(assign_adapo(hard, {{"arm", false}, {"r01", 1.5}}), {{"R01", 1.5}, {"R11", 1}, {"beta1", 0.006}});
  require_figures(assign_adapo(hard, {{"theta", 0.5}, {"lambda", 0.1}, {"beta_base", 0}}),
                  {{"R01", 1.5}, {"beta1", 0.1}});
}
