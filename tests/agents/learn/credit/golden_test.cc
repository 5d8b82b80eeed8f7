// Compares every method with its formulas in numpy (script/golden.d/credit.py).
#include <catch2/catch.hpp>

#include "core/text.h"
#include "fixtures/credit.h"
#include "paths.h"

using namespace agon::test;
using agon::Json;
using agon::agents::make_credit;
using agon::agents::TokenCredit;

namespace {

SegmentKind kind_of(const std::string& name) {
  for (const auto kind : {SegmentKind::think, SegmentKind::step, SegmentKind::answer, SegmentKind::score})
    if (agon::env::to_string(kind) == name) return kind;
  return SegmentKind::tool;
}

CreditRollout read_rollout(const Json& json) {
  CreditRollout rollout{.answer_reward = json["answer_reward"], .correct = json["correct"]};
  if (!json["score"].is_null()) rollout.score = json["score"].get<double>();
  for (const Json& segment : json["segments"])
    rollout.segments.push_back({kind_of(segment[0]), segment[1], segment[2]});
  rollout.turn_correct = json["turn_correct"].get<std::vector<bool>>();
  rollout.truncated = json["truncated"];
  rollout.step_confidence = json["step_confidence"].get<std::vector<double>>();
  rollout.step_visual = json["step_visual"].get<std::vector<double>>();
  return rollout;
}

void require_close(float value, const Json& expected) {
  REQUIRE(value == Approx(expected.get<double>()).epsilon(1e-5).margin(1e-6));
}

// expected: [advantage, kl, weight] of each segment
void require_rollout(const TokenCredit& credit, const CreditRollout& rollout, const Json& expected, bool dropped) {
  std::size_t token = 0;
  for (std::size_t s = 0; s < rollout.segments.size(); ++s)
    for (int t = 0; t < rollout.segments[s].tokens; ++t, ++token) {
      CAPTURE(s, token);
      require_close(credit.advantage[token], expected[s][0]);
      require_close(credit.kl[token], expected[s][1]);
      require_close(credit.weight[token], dropped ? Json(0.0) : expected[s][2]);
    }
}

}  // namespace

TEST_CASE("credit equals numpy's on random groups", "[credit]") {
  const auto lines = agon::split(agon::read_file(agon::test::golden_path("credit/groups.jsonl")), "\n");
  int cases = 0;
  for (const std::string& line : lines) {
    if (line.empty() || line.starts_with("{\"versions\"")) continue;
    const Json golden = Json::parse(line);
    CAPTURE(++cases, golden["method"], golden["settings"].dump());
    CreditGroup group;
    for (const Json& rollout : golden["group"]) group.push_back(read_rollout(rollout));
    const GroupCredit credit = make_credit(golden["method"], golden["settings"])->assign(group);
    REQUIRE(credit.filtered.empty() != golden["dropped"].get<bool>());
    for (std::size_t i = 0; i < group.size(); ++i) {
      CAPTURE(i);
      require_rollout(credit.rollouts[i], group[i], golden["credit"][i], golden["dropped"]);
    }
  }
  REQUIRE(cases > 50);
}
