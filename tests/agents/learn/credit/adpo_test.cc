#include <catch2/catch.hpp>

#include "fixtures/credit.h"

using namespace agon::test;
using agon::Json;
using agon::agents::make_credit;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

namespace {

// s = (.9, .8, .2, .1), X = (1, 0, 1, 0)
const CreditGroup kFour = {scored(1, 0.9), scored(0, 0.8), scored(1, 0.2), scored(0, 0.1)};

Doubles preferences(const CreditGroup& group, const Json& settings = {}, const std::string& method = "adpo") {
  return figures(make_credit(method, settings)->assign(group), "preference_reward");
}

}  // namespace

TEST_CASE("ADPO: the preference rewards of the numbers worked by hand", "[credit][adpo]") {
  REQUIRE(preferences(kFour) == Doubles{1, 0, 0, 1});
  REQUIRE(preferences(kFour, {{"mode", "pairwise"}}) == Doubles{1, 0.5, 0.5, 1});
  REQUIRE(preferences(kFour, {{"mode", "pairwise"}, {"gamma", "discrete"}}) == Doubles{1, 0.5, 0.5, 1});
  const GroupCredit credit = make_credit("adpo")->assign(kFour);
  REQUIRE(credit.rollout_figures[0]["threshold"].get<double>() == Approx(0.45));
  REQUIRE(credit.rollout_figures[1]["threshold"].get<double>() == Approx(0.55));
  REQUIRE(credit.rollout_figures[0]["contrast"] == 2);
}

TEST_CASE("ADPO: answer and score have advantages, tokens and weights of their own", "[credit][adpo]") {
  const GroupCredit credit = make_credit("adpo")->assign(kFour);
  const float a = 0.8660239f, w = 1.0f / 16, v = 1.0f / 8;  // std .57735, G = 4, 4 and 2 tokens
  const auto close = [](float value, float expected) { return value == Approx(expected).epsilon(1e-5); };
  for (std::size_t i = 0; i < 4; ++i) {
    const float answer = i % 2 == 0 ? a : -a, score = i == 0 || i == 3 ? a : -a;
    for (std::size_t t = 0; t < 6; ++t) {
      REQUIRE(close(credit.rollouts[i].advantage[t], t < 4 ? answer : score));
      REQUIRE(credit.rollouts[i].weight[t] == (t < 4 ? w : v));
      REQUIRE(credit.rollouts[i].kl[t] == 0.01f);
    }
  }
  REQUIRE(sum_of_weights(credit) == Approx(2));
  REQUIRE(credit.mass == 4);
  const GroupCredit shared = make_credit("adpo", {{"mean", "response"}})->assign(kFour);
  REQUIRE(shared.rollouts[0].weight == Floats(6, 1.0f / 24));
}

TEST_CASE("ADPO: steps and thoughts belong to the answer, a result of a tool to nobody", "[credit][adpo]") {
  CreditRollout rollout = scored(1, 0.5);
  rollout.segments.insert(rollout.segments.begin(),
                          {{SegmentKind::think, 2}, {SegmentKind::step, 1}, {SegmentKind::tool, 3}});
  const GroupCredit credit = make_credit("adpo")->assign({rollout, scored(0, 0.4)});
  const float answer = 1.0f / 14, score = 1.0f / 4;
  REQUIRE(credit.rollouts[0].weight ==
          Floats{answer, answer, answer, 0, 0, 0, answer, answer, answer, answer, score, score});
}

TEST_CASE("ADPO: ties, missing scores and empty contrast sets are worth nothing", "[credit][adpo]") {
  for (const char* mode : {"mean", "pairwise"}) {
    CAPTURE(mode);
    const Json settings = {{"mode", mode}};
    REQUIRE(preferences({scored(1, 0.5), scored(0, 0.5)}, settings) == Doubles{0, 0});
    REQUIRE(preferences({scored(1, 0.5), scored(1, 0.9)}, settings) == Doubles{0, 0});
    REQUIRE(preferences({scored(1, {}), scored(0, 0.2), scored(1, 0.3)}, settings) == Doubles{0, 1, 1});
    const GroupCredit unscored = make_credit("adpo", settings)->assign({scored(1, {}), scored(0, {})});
    REQUIRE(unscored.figures["valid_scores"] == 0);
    REQUIRE(unscored.rollouts[0].advantage[4] == 0);
    REQUIRE(unscored.rollouts[0].advantage[0] > 0);
    REQUIRE(unscored.rollout_figures[0]["score"].is_null());
  }
  const Json code = {{"mode", "pairwise"}, {"offset", 0.5}, {"empty_value", 0.25}};
  REQUIRE(preferences({scored(1, 0.5), scored(1, {})}, code) == Doubles{0.75, 0});
  REQUIRE(preferences({scored(1, 0.5), scored(0, 0.2)}, code) == Doubles{1.5, 1.5});
}

TEST_CASE("ADPO: a margin makes contrast sets of continuous rewards", "[credit][adpo]") {
  const CreditGroup boxes = {scored(0.9, 0.8), scored(0.85, 0.1), scored(0.3, 0.5), scored(0.05, 0.9)};
  const Json settings = {{"mode", "pairwise"}, {"gamma", 0.1}};
  REQUIRE(preferences(boxes, settings) == Doubles{0.5, 0, 1.0 / 3, 0});
  REQUIRE(preferences(boxes, {{"mode", "pairwise"}, {"gamma", 0.01}})[0] == Approx(2.0 / 3));
  REQUIRE(preferences(boxes, {{"mode", "pairwise"}, {"gamma", 1}}) == Doubles{0, 0, 0, 0});
}

TEST_CASE("ADPO: contrast sets of a batch compare the scores of different tasks", "[credit][adpo]") {
  const std::vector<CreditGroup> batch{{scored(1, 0.4), scored(1, 0.9)}, {scored(0, 0.5), scored(0, 0.7)}};
  for (const char* method : {"adpo", "adpo_entangled"}) {
    const auto rewards = [&](const Json& settings) {
      const std::vector<GroupCredit> credits = make_credit(method, settings)->assign_batch(batch);
      return std::pair(figures(credits[0], "preference_reward"), figures(credits[1], "preference_reward"));
    };
    REQUIRE(rewards({{"contrast", "group"}}) == std::pair(Doubles{0, 0}, Doubles{0, 0}));
    // The mean scores are 0.6 for wrong answers and 0.65 for right ones.
    REQUIRE(rewards({{"contrast", "batch"}}) == std::pair(Doubles{0, 1}, Doubles{1, 0}));
    REQUIRE(rewards({{"contrast", "batch"}, {"mode", "pairwise"}}) == std::pair(Doubles{0, 1}, Doubles{0.5, 0.5}));
  }
  const auto credits = make_credit("adpo", {{"contrast", "batch"}})->assign_batch(batch);
  REQUIRE(figures(credits[0], "answer_advantage") == Doubles{0, 0});
  REQUIRE(figures(credits[0], "score_advantage")[1] == Approx(1 / std::sqrt(2.0)).margin(1e-4));
}

TEST_CASE("ADPO's baselines: a reward by thresholds, one advantage for everything", "[credit][adpo]") {
  REQUIRE(preferences(kFour, {}, "adpo_binary") == Doubles{1, 0, 0, 1});
  REQUIRE(preferences(kFour, {{"tau", 0.85}}, "adpo_binary") == Doubles{1, 1, 0, 1});
  REQUIRE(preferences({scored(1, 0.5), scored(0, 0.5), scored(1, {})}, {}, "adpo_binary") == Doubles{0, 0, 0});

  const GroupCredit credit = make_credit("adpo_entangled")->assign(kFour);
  REQUIRE(figures(credit, "reward") == Doubles{2, 0, 1, 1});
  REQUIRE(credit.rollouts[0].advantage[0] == Approx(1 / 0.8164966).epsilon(1e-5));
  REQUIRE(credit.rollouts[0].advantage == Floats(6, credit.rollouts[0].advantage[0]));
  REQUIRE(credit.rollouts[0].weight == Floats(6, 1.0f / 24));
}
