#include "agents/learn/credit/credit.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/error.h"
#include "fixtures/credit.h"

using namespace agon::test;
using agon::Error;
using agon::Json;
using agon::Rng;
using agon::agents::Clip;
using agon::agents::credit_methods;
using agon::agents::credit_settings;
using agon::agents::make_credit;
using agon::agents::TokenCredit;
using Catch::Matchers::Contains;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Doubles advantages(const std::string& method, const Json& settings, const Doubles& rewards) {
  return first_advantages(make_credit(method, settings)->assign(answered(rewards)));
}

auto approximately(const Doubles& values, double margin = 1e-5) { return Catch::Approx(values).margin(margin); }

bool holds_only_finite(const GroupCredit& credit) {
  for (const TokenCredit& rollout : credit.rollouts)
    for (const Floats* numbers : {&rollout.advantage, &rollout.kl, &rollout.weight})
      for (const float number : *numbers)
        if (!std::isfinite(number)) return false;
  return true;
}

}  // namespace

TEST_CASE("GRPO: the advantages of the numbers worked by hand", "[credit]") {
  REQUIRE_THAT(advantages("grpo", {}, {1, 0, 0, 0}), approximately({1.5, -0.5, -0.5, -0.5}));
  REQUIRE_THAT(advantages("grpo", {{"std", "biased"}}, {1, 0, 0, 0}),
               approximately({1.732, -0.577, -0.577, -0.577}, 1e-3));
  REQUIRE_THAT(advantages("grpo", {{"std", false}}, {1, 0, 0, 0}), approximately({0.75, -0.25, -0.25, -0.25}));
  REQUIRE_THAT(advantages("grpo", {{"epsilon", 0.5}}, {1, 0, 0, 0}), approximately({0.75, -0.25, -0.25, -0.25}));
  REQUIRE_THAT(advantages("dr_grpo", {}, {1, 0, 0, 0}), approximately({0.75, -0.25, -0.25, -0.25}));
  REQUIRE_THAT(advantages("rloo", {}, {1, 0, 0, 0}), approximately({1, -1.0 / 3, -1.0 / 3, -1.0 / 3}));
  REQUIRE_THAT(advantages("rloo", {}, {3, 1, 2}), approximately({1.5, -1.5, 0}));
}

TEST_CASE("GRPO, DR GRPO, RLOO, DAPO: the weights are those of the papers' means", "[credit]") {
  const CreditGroup group = {answered(1, 2), answered(0, 6)};
  const auto weights = [&](const std::string& method, const Json& settings = Json::object()) {
    const GroupCredit credit = make_credit(method, settings)->assign(group);
    return std::pair(credit.rollouts[0].weight.front(), credit.rollouts[1].weight.back());
  };
  REQUIRE(weights("grpo") == std::pair(1.0f / 4, 1.0f / 12));
  REQUIRE(weights("grpo", {{"mean", "token"}}) == std::pair(1.0f / 8, 1.0f / 8));
  REQUIRE(weights("rloo") == std::pair(1.0f / 4, 1.0f / 12));
  REQUIRE(weights("dapo") == std::pair(1.0f / 8, 1.0f / 8));
  REQUIRE(weights("dr_grpo", {{"max_tokens", 10}}) == std::pair(1.0f / 20, 1.0f / 20));
  REQUIRE(make_credit("grpo")->assign(group).mass == 2);
  REQUIRE(make_credit("dapo")->assign(group).mass == 8);
  REQUIRE(make_credit("dr_grpo")->assign(group).mass == 2);
}

TEST_CASE("a batch's loss is one mean whatever its groups", "[credit]") {
  const CreditGroup small = {answered(1, 2), answered(0, 6)}, large = {answered(1, 5), answered(0, 7), answered(0, 1)};
  for (const char* mean : {"sequence", "token"}) {
    const auto grpo = make_credit("grpo", {{"mean", mean}});
    const auto credits = grpo->assign_batch({small, large});
    const double all = credits[0].mass + credits[1].mass;
    const double first = credits[0].rollouts[0].weight[0] * credits[0].mass / all;
    const double last = credits[1].rollouts[2].weight[0] * credits[1].mass / all;
    const bool token = std::string(mean) == "token";
    REQUIRE(first == Approx(token ? 1.0 / 21 : 1.0 / (5 * 2)));
    REQUIRE(last == Approx(token ? 1.0 / 21 : 1.0 / 5));
  }
}

TEST_CASE("DAPO drops groups without contrast", "[credit]") {
  const auto filtered = [](const Json& settings, const Doubles& rewards) {
    return make_credit("dapo", settings)->assign(answered(rewards));
  };
  REQUIRE(filtered({}, {1, 1}).filtered == "all are right");
  REQUIRE(filtered({}, {0, 0.1}).filtered == "all are wrong");
  REQUIRE(filtered({}, {0, 1}).filtered.empty());
  REQUIRE(filtered({{"filter_on", "rewards"}}, {0, 0.1}).filtered.empty());
  REQUIRE(filtered({{"filter_on", "rewards"}}, {0.1, 0.1}).filtered == "all rewards are equal");
  REQUIRE(filtered({{"dynamic_sampling", false}}, {1, 1}).filtered.empty());
  REQUIRE(filtered({}, {1, 1}).mass == 0);
  REQUIRE(sum_of_weights(filtered({}, {1, 1})) == 0);
}

TEST_CASE("DAPO punishes long responses softly", "[credit]") {
  const auto dapo = make_credit("dapo", {{"overlong_buffer", 4}, {"max_tokens", 10}, {"overlong_penalty", 2}});
  const GroupCredit credit = dapo->assign({answered(1, 6), answered(1, 7), answered(0, 10), answered(0, 14)});
  REQUIRE_THAT(figures(credit, "overlong"), approximately({0, -0.5, -2, -2}));
  REQUIRE_THAT(figures(credit, "reward"), approximately({1, 0.5, -2, -2}));
  // The limit applies per turn: two turns that are long only together pass, a long turn of several segments does not.
  CreditRollout turns = answered(1, 0), long_turn = turns;
  using agon::env::SegmentKind;
  turns.segments = {{SegmentKind::answer, 6, 0}, {SegmentKind::tool, 9, 1}, {SegmentKind::answer, 6, 1}};
  long_turn.segments = {{SegmentKind::answer, 2, 0}, {SegmentKind::think, 4, 1}, {SegmentKind::answer, 4, 1}};
  REQUIRE_THAT(figures(dapo->assign({turns, long_turn, answered(0, 7)}), "overlong"), approximately({0, -1, -0.5}));
  REQUIRE_THROWS_WITH(make_credit("dapo", {{"overlong_buffer", 11}, {"max_tokens", 10}}), Contains("overlong_buffer"));
}

TEST_CASE("the score of GRPO + verifier is not trained", "[credit]") {
  const GroupCredit credit = make_credit("grpo_verifier")->assign({scored(1, 0.9), scored(0, 0.8)});
  REQUIRE(credit.rollouts[0].weight == Floats{0.125, 0.125, 0.125, 0.125, 0, 0});
  REQUIRE(credit.rollouts[0].advantage[5] == 0);
  REQUIRE(credit.rollouts[0].kl == Floats{0.01f, 0.01f, 0.01f, 0.01f, 0, 0});
}

TEST_CASE("SFT imitates right or given roll-outs, STaR revisions that put an answer right", "[credit]") {
  const CreditGroup group = {answered(1, 2), answered(0, 3), answered(1, 2)};
  const auto sft = make_credit("sft");
  REQUIRE(sft->imitates());
  const GroupCredit right = sft->assign(group);
  REQUIRE(right.rollouts[0].advantage == Floats{1, 1});
  REQUIRE(right.rollouts[0].weight == Floats{0.25, 0.25});
  REQUIRE(right.rollouts[1].weight == Floats{0, 0, 0});
  REQUIRE(right.rollouts[1].advantage == Floats{0, 0, 0});
  REQUIRE(make_credit("sft", {{"of", "all"}})->assign(group).mass == 7);
  REQUIRE(sft->assign({answered(0), answered(0)}).filtered == "none is right");

  const CreditGroup revised = {two_turns(false, true), two_turns(true, true), two_turns(true, false)};
  const GroupCredit star = make_credit("star")->assign(revised);
  REQUIRE(star.rollouts[0].weight == Floats{0, 0, 0, 0, 0, 0, 1.0f / 3, 1.0f / 3, 1.0f / 3});
  REQUIRE(star.rollouts[0].advantage == Floats{0, 0, 0, 0, 0, 0, 1, 1, 1});
  REQUIRE(star.rollouts[1].weight == Floats(9, 0));
  REQUIRE(make_credit("star", {{"keep_right", true}})->assign(revised).mass == 6);
  REQUIRE(make_credit("star")->assign({two_turns(true, true)}).filtered == "no answer was put right");
}

TEST_CASE("SCoRe pays the second answer first, then both, with a bonus for the way between", "[credit]") {
  const CreditGroup group = {two_turns(false, true), two_turns(true, true), two_turns(true, false),
                             two_turns(false, false)};
  const GroupCredit first = make_credit("score")->assign(group);
  REQUIRE(first.rollouts[0].advantage == Floats{0, 0, 0, 0, 0, 0, 0.5, 0.5, 0.5});
  REQUIRE(first.rollouts[2].advantage.back() == -0.5f);
  REQUIRE(first.rollouts[0].kl == Floats{0.11f, 0.11f, 0, 0, 0, 0, 0.01f, 0.01f, 0.01f});
  const GroupCredit second = make_credit("score", {{"stage", 2}})->assign(group);
  REQUIRE(second.rollout_figures[0]["turn_reward"] == Json({0, 11}));
  REQUIRE(second.rollout_figures[1]["turn_reward"] == Json({1, 1}));
  REQUIRE(second.rollout_figures[2]["turn_reward"] == Json({1, -10}));
  REQUIRE(second.rollouts[2].advantage[0] == 0.5f);
  REQUIRE(second.rollouts[2].advantage[8] == -10.5f);
  REQUIRE(second.rollouts[2].kl.front() == 0.01f);
  const auto returns = make_credit("score", {{"stage", 2}, {"return_to_go", true}, {"alpha", 2}})->assign(group);
  REQUIRE(returns.rollout_figures[2]["turn_reward"] == Json({-1, -2}));
}

TEST_CASE("advantages of a group sum to zero, weights to one, tokens of a tool weigh nothing", "[credit]") {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    const CreditGroup group = random_group(rng, rng.between(1, 8));
    for (const std::string& method : credit_methods()) {
      CAPTURE(method, round);
      const GroupCredit credit = make_credit(method)->assign(group);
      REQUIRE(holds_only_finite(credit));
      if (credit.filtered.empty() && method != "dr_grpo") {
        const bool scored = std::any_of(group.begin(), group.end(), [](const CreditRollout& one) {
          return std::any_of(one.segments.begin(), one.segments.end(),
                             [](const CreditSegment& part) { return part.kind == SegmentKind::score; });
        });
        const bool two_means = method == "adpo" || method == "adpo_binary";
        if (two_means && scored)
          REQUIRE(sum_of_weights(credit) <= Approx(2));
        else
          REQUIRE(sum_of_weights(credit) == Approx(1));
      }
      for (std::size_t i = 0; i < group.size(); ++i) {
        std::size_t token = 0;
        REQUIRE(credit.rollouts[i].weight.size() == static_cast<std::size_t>(group[i].tokens()));
        for (const CreditSegment& segment : group[i].segments)
          for (int t = 0; t < segment.tokens; ++t, ++token)
            if (segment.kind == SegmentKind::tool) {
              REQUIRE(credit.rollouts[i].weight[token] == 0);
              REQUIRE(credit.rollouts[i].advantage[token] == 0);
              REQUIRE(credit.rollouts[i].kl[token] == 0);
            }
      }
    }
    for (const char* method : {"grpo", "dr_grpo", "rloo", "dapo", "adpo_entangled"}) {
      CAPTURE(method);
      const Doubles values = figures(make_credit(method)->assign(group), "group_advantage");
      REQUIRE(std::accumulate(values.begin(), values.end(), 0.0) == Approx(0).margin(1e-9));
    }
  }
}

TEST_CASE("the order of a group's roll-outs changes nothing", "[credit]") {
  Rng rng(12);
  for (int round = 0; round < 20; ++round) {
    const CreditGroup group = random_group(rng, 6);
    const CreditGroup reversed(group.rbegin(), group.rend());
    for (const std::string& method : credit_methods()) {
      CAPTURE(method, round);
      const Json settings = method == "pdcr" ? Json{{"split", "random"}} : Json::object();
      const GroupCredit a = make_credit(method, settings)->assign(group);
      const GroupCredit b = make_credit(method, settings)->assign(reversed);
      REQUIRE(a.filtered == b.filtered);
      REQUIRE(a.mass == b.mass);
      for (std::size_t i = 0; i < group.size(); ++i) {
        const TokenCredit &one = a.rollouts[i], &same = b.rollouts[group.size() - 1 - i];
        REQUIRE(one.weight == same.weight);
        REQUIRE(one.kl == same.kl);
        for (std::size_t t = 0; t < one.advantage.size(); ++t)
          REQUIRE(one.advantage[t] == Approx(same.advantage[t]).margin(1e-6));
      }
    }
  }
}

TEST_CASE("groups without contrast, of one, and without tokens get no advantage and no infinity", "[credit]") {
  const CreditRollout empty{.answer_reward = 1, .correct = true};
  for (const char* method : {"grpo", "dr_grpo", "rloo", "adpo", "adpo_binary", "adpo_entangled"}) {
    CAPTURE(method);
    const auto assigner = make_credit(method);
    REQUIRE(first_advantages(assigner->assign({answered(0.7)})) == Doubles{0});
    REQUIRE(first_advantages(assigner->assign(answered({0.1, 0.1, 0.1}))) == Doubles{0, 0, 0});
    const GroupCredit half = assigner->assign({answered(0), empty});  // the empty response counts as one of two
    REQUIRE(half.rollouts[1].weight.empty());
    REQUIRE(half.mass == 2);
    if (std::string(method) != "dr_grpo") REQUIRE(sum_of_weights(half) == Approx(0.5));
    REQUIRE(assigner->assign({empty, empty}).filtered == "no token to train");
    REQUIRE(assigner->assign({empty, empty}).mass == 0);
  }
  CreditRollout observation = answered(1);
  observation.segments = {{SegmentKind::tool, 5}};
  REQUIRE(make_credit("grpo")->assign({observation}).filtered == "no token to train");
  CreditRollout only_score = answered(1);
  only_score.segments = {{SegmentKind::score, 2}};
  REQUIRE(make_credit("grpo_verifier")->assign({only_score, only_score}).filtered == "no token to train");
}

TEST_CASE("groups that no method can take are refused, with the roll-out and the number", "[credit]") {
  const auto refused = [](CreditGroup group, const std::string& words) {
    for (const std::string& method : credit_methods())
      REQUIRE_THROWS_WITH(make_credit(method)->assign(group), Contains("credit: " + method) && Contains(words));
  };
  CreditRollout good = two_turns(false, true), bad = good;
  refused({}, "empty");
  for (const double reward : {kNaN, 1 / 0.0, -1 / 0.0, 1e300}) {
    bad.answer_reward = reward;
    refused({good, bad}, "roll-out 1 has the answer_reward");
  }
  bad = good;
  bad.segments[0].tokens = -1;
  refused({good, good, bad}, "roll-out 2 has a segment of -1 tokens");
  bad.segments[0] = {SegmentKind::answer, 2, -1};
  refused({bad}, "segment of turn -1");
  bad.segments[0].tokens = 2'000'000'000;
  bad.segments[0].turn = 0;
  refused({good, bad}, "more than 16777216 tokens");
  for (const char* method : {"adapo", "score", "star"}) {
    REQUIRE_THROWS_WITH(make_credit(method)->assign({good, answered(1)}),
                        Contains("roll-out 1 has 0 entries in turn_correct"));
    CreditRollout third = good;
    third.segments.push_back({SegmentKind::answer, 1, 2});
    REQUIRE_THROWS_WITH(make_credit(method)->assign({third}), Contains("turn 2"));
  }
}

TEST_CASE("methods and settings that do not exist are refused, with the nearest", "[credit]") {
  REQUIRE_THROWS_WITH(make_credit("adpoo"), Contains("Did you mean 'adpo'"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"epsilom", 1}}), Contains("Did you mean 'epsilon'"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"kl", "much"}}),
                      Contains("kl must be a number from 0") && Contains("much"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"kl", -1}}), Contains("kl must be"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"kl", kNaN}}), Contains("kl must be"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"std", "both"}}), Contains("std must be unbiased, biased or none"));
  REQUIRE_THROWS_WITH(make_credit("grpo", {{"mean", 3}}), Contains("mean must be sequence or token"));
  REQUIRE_THROWS_WITH(make_credit("score", {{"stage", 3}}), Contains("stage must be a whole number from 1 to 2"));
  REQUIRE_THROWS_WITH(make_credit("score", {{"stage", 1.5}}), Contains("stage must be a whole number"));
  REQUIRE_THROWS_WITH(make_credit("dapo", {{"dynamic_sampling", 1}}),
                      Contains("dynamic_sampling must be true or false"));
  REQUIRE_THROWS_WITH(make_credit("adpo", {{"gamma", "wide"}}), Contains("gamma must be"));
  REQUIRE_THROWS_WITH(make_credit("adpo", {{"gamma", 0.1}}), Contains("mode=pairwise"));
  REQUIRE_THROWS_WITH(make_credit("grpo", Json::array({1})), Contains("keys and values"));
}

TEST_CASE("every method shows its settings, and takes them back", "[credit]") {
  for (const std::string& method : credit_methods()) {
    const Json defaults = credit_settings(method);
    REQUIRE(credit_settings(method, defaults) == defaults);
    REQUIRE(make_credit(method, defaults)->name() == method);
    REQUIRE_FALSE(agon::agents::credit_description(method).empty());
  }
  REQUIRE(credit_settings("adpo")["kl"] == 0.01);
  REQUIRE(credit_settings("adapo", {{"preset", "table4"}})["k01"] == "preset");
  REQUIRE(credit_settings("adapo", {{"preset", "table4"}, {"k01", 2}})["k01"] == 2);
  REQUIRE(make_credit("grpo")->clip() == Clip{0.2, 0.2});
  REQUIRE(make_credit("dapo")->clip() == Clip{0.2, 0.28});
  REQUIRE(make_credit("adapo")->clip() == Clip{0.25, 0.25});
}
