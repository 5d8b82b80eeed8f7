#include "env/grading/visual_arft.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "cpu_time.h"
#include "paths.h"

using namespace agon;
using namespace agon::env;

namespace {

Reward reward_of(const Json& row, const VisualArftRules& rules) {
  const std::string turn = row["turn"], expert = row["expert"];
  return row["agent"] == "search" ? search_turn_reward(turn, expert, rules, *word_overlap_similarity())
                                  : code_turn_reward(turn, expert, rules);
}

class Constant final : public TextSimilarity {
 public:
  explicit Constant(double value) : value_(value) {}
  double similarity(std::string_view, std::string_view) const override { return value_; }
  std::string name() const override { return "constant"; }

 private:
  double value_;
};

double query_reward(double alike, const std::string& preset) {
  constexpr const char* kTurn = "<think>a</think><search>b</search>";
  return search_turn_reward(kTurn, kTurn, visual_arft_rules(preset), Constant(alike)).components[0].second;
}

}  // namespace

TEST_CASE("Visual-ARFT's rewards equal the published rules") {
  std::size_t rows = 0;
  for (const std::string& line : split(read_file(agon::test::golden_path("visual_arft/rewards.jsonl")), "\n")) {
    if (line.empty()) continue;
    const Json row = Json::parse(line);
    INFO(line);
    for (const char* preset : {"paper", "official_code"}) {
      INFO(preset);
      const Reward reward = reward_of(row, visual_arft_rules(preset));
      CHECK(reward.components[0].first == "accuracy");
      CHECK(reward.components[0].second == Approx(row[preset][0].get<double>()));
      CHECK(reward.components[1].first == "format");
      CHECK(reward.components[1].second == row[preset][1].get<double>());
      CHECK(reward.total == Approx(reward.components[0].second + reward.components[1].second));
    }
    ++rows;
  }
  CHECK(rows == 800);
}

TEST_CASE("a query's reward is its similarity, with a floor in the official code alone") {
  CHECK(query_reward(0.49, "paper") == 0.49);
  CHECK(query_reward(0.49, "official_code") == 0);
  CHECK(query_reward(0.5, "official_code") == 0.5);
  CHECK(query_reward(-0.2, "paper") == 0);
}

TEST_CASE("an unknown preset of rewards is refused with the nearest") {
  CHECK_THROWS_WITH(visual_arft_rules("papers"), Catch::Contains("Did you mean 'paper'?"));
}

TEST_CASE("word overlap is the cosine of word counts") {
  const auto overlap = word_overlap_similarity();
  CHECK(overlap->similarity("The red tower!", "red tower") == Approx(1));
  CHECK(overlap->similarity("red tower", "red bridge") == Approx(0.5));
  CHECK(overlap->similarity("red red tower", "red") == Approx(2 / std::sqrt(5.0)));
  CHECK(overlap->similarity("", "red") == 0);
  CHECK(overlap->similarity("blue", "red") == 0);
}

TEST_CASE("tags that nothing closes cost no more than their length") {
  for (const char* piece :
       {"<answer>", "<answer>\n", "<problem>{", "<problem> {'a'}", "{", "}", "} ", "<search>", "'"}) {
    std::string turn = "<think>a</think>";
    while (turn.size() < 2 * agon::test::kLongText) turn += piece;
    for (const char* end : {"", "</answer>", "\n</answer>", "</problem>"}) {
      const std::string whole = turn + end;
      const double seconds = agon::test::cpu_seconds_of([&] {
        for (const char* expert : {"<answer>a</answer>", "<problem>{'dark'}</problem>"}) {
          search_turn_reward(whole, expert, visual_arft_rules("official_code"), *word_overlap_similarity());
          code_turn_reward(whole, expert, visual_arft_rules("official_code"));
        }
      });
      INFO(piece);
      CHECK(seconds < 2.5);  // in the square: many times this
    }
  }
}
