// tests/support/credit_fixture.h - groups of roll-outs made by hand and at random.
#pragma once

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "agents/learn/credit/credit.h"
#include "core/rng.h"

namespace agon::test {

using agents::CreditGroup;
using agents::CreditRollout;
using agents::CreditSegment;
using agents::GroupCredit;
using env::SegmentKind;

// One answer of `tokens` tokens.
inline CreditRollout answered(double reward, int tokens = 3) {
  return {.answer_reward = reward, .correct = reward > 0.5, .segments = {{SegmentKind::answer, tokens}}};
}
inline CreditGroup answered(const std::vector<double>& rewards) {
  CreditGroup group;
  for (const double reward : rewards) group.push_back(answered(reward));
  return group;
}

// An answer of four tokens and a score of two.
inline CreditRollout scored(double reward, std::optional<double> score) {
  CreditRollout rollout = answered(reward, 4);
  rollout.score = score;
  rollout.segments.push_back({SegmentKind::score, 2});
  return rollout;
}

// Two answers of two and three tokens, and between them a question that nobody learns.
inline CreditRollout two_turns(bool first, bool second) {
  return {.answer_reward = second ? 1.0 : 0.0,
          .correct = second,
          .segments = {{SegmentKind::answer, 2, 0}, {SegmentKind::tool, 4, 0}, {SegmentKind::answer, 3, 1}},
          .turn_correct = {first, second}};
}

// Steps of one token each and an answer of one token.
inline CreditRollout stepped(double reward, std::vector<double> confidence, std::vector<double> visual) {
  CreditRollout rollout = answered(reward, 0);
  rollout.segments.clear();
  for (std::size_t k = 1; k < confidence.size(); ++k) rollout.segments.push_back({SegmentKind::step, 1});
  rollout.segments.push_back({SegmentKind::answer, 1});
  rollout.step_confidence = std::move(confidence);
  rollout.step_visual = std::move(visual);
  return rollout;
}

// A group that every method takes: two turns, steps, a tool result, sometimes no score and no tokens.
inline CreditGroup random_group(Rng& rng, int size) {
  CreditGroup group;
  for (int i = 0; i < size; ++i) {
    CreditRollout& rollout = group.emplace_back();
    rollout.turn_correct = {rng.chance(0.5), rng.chance(0.5)};
    rollout.correct = rollout.turn_correct[1];
    rollout.answer_reward = rollout.correct + 0.1 * rng.between(0, 1);
    if (rng.chance(0.8)) rollout.score = 0.1 * rng.between(0, 10);
    rollout.step_confidence = {-rng.uniform()};
    for (int k = rng.between(0, 5); k > 0; --k) {
      rollout.segments.push_back({rng.chance(0.5) ? SegmentKind::think : SegmentKind::step, rng.between(0, 3), 0});
      rollout.step_confidence.push_back(-4 * rng.uniform());
      rollout.step_visual.push_back(rng.normal());
    }
    rollout.segments.push_back({SegmentKind::answer, rng.between(1, 4), 0});
    if (rng.chance(0.5)) rollout.segments.push_back({SegmentKind::tool, rng.between(1, 4), 0});
    rollout.segments.push_back({SegmentKind::answer, rng.between(1, 4), 1});
    if (rng.chance(0.8)) rollout.segments.push_back({SegmentKind::score, rng.between(1, 3), 1});
    rollout.truncated = rng.chance(0.1);
  }
  return group;
}

// The number of a roll-out's first token, for methods with one number a response.
inline std::vector<double> first_advantages(const GroupCredit& credit) {
  std::vector<double> values;
  for (const auto& rollout : credit.rollouts)
    values.push_back(rollout.advantage.empty() ? 0 : rollout.advantage.front());
  return values;
}

inline double sum_of_weights(const GroupCredit& credit) {
  double sum = 0;
  for (const auto& rollout : credit.rollouts) sum = std::accumulate(rollout.weight.begin(), rollout.weight.end(), sum);
  return sum;
}

// "reward" of every roll-out's figures.
inline std::vector<double> figures(const GroupCredit& credit, const char* name) {
  std::vector<double> values;
  for (const Json& rollout : credit.rollout_figures) values.push_back(rollout.at(name).get<double>());
  return values;
}

}  // namespace agon::test
