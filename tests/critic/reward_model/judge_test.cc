#include "critic/reward_model/judge.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "critic/reward_model/evaluation.h"

using namespace agon;
using namespace agon::critic;

namespace {

// Prefers the response with the larger number; its verdict on 13 cannot be parsed.
class Comparing : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      const std::string shown = request.messages.back().text();
      std::vector<int> numbers;
      for (std::size_t at = shown.find("Response "); at != shown.npos; at = shown.find("Response ", at + 1))
        numbers.push_back(std::stoi(shown.substr(shown.find('\n', at))));
      if (shown.size() > context)
        completions.push_back({.finish_reason = agents::FinishReason::context});
      else
        completions.push_back({.text = verdict(numbers)});
    }
    asked += static_cast<int>(requests.size());
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"comparing", true, true, false, 1000}; }
  int asked = 0;
  std::size_t context = 1000;
  bool stubborn = false;  // always prefers the first response

 private:
  std::string verdict(const std::vector<int>& numbers) const {
    if (std::count(numbers.begin(), numbers.end(), 13)) return "I cannot say.";
    if (stubborn) return "[[A]]";
    if (numbers.size() == 2 && numbers[0] == numbers[1]) return "Both. [[C]]";
    const auto best = std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
    return std::string("At first sight [[A]], but: [[") + static_cast<char>('A' + best) + "]]";
  }
};

const std::vector<Message> kQuestion = {Message::of(Role::system, "Be good."), Message::of(Role::user, "How many?")};

}  // namespace

TEST_CASE("judge: the last verdict counts") {
  CHECK(parse_pair_verdict("[[A]]") == PairVerdict::first);
  CHECK(parse_pair_verdict("[[A]] no, [[B]].") == PairVerdict::second);
  CHECK(parse_pair_verdict("a tie [[C]]") == PairVerdict::tie);
  for (const char* text : {"", "A", "[A]", "[[D]]", "[[a]]", "[[", "[[A]", "[[AB]]"})
    CHECK(parse_pair_verdict(text) == PairVerdict::invalid);
  CHECK(parse_choice("[[D]] or [[Z]]", 4) == 3);
  CHECK(parse_choice("[[E]]", 4) == std::nullopt);
}

TEST_CASE("judge: both orders of every pair, and wins") {
  Comparing policy;
  Judge judge(policy, {});
  const std::vector<Candidates> sets = {{kQuestion, {"3", "9", "3"}}};
  const auto votes = judge.compare(sets);
  CHECK(policy.asked == 6);
  CHECK(Judge::win_counts(3, votes[0]) == std::vector<double>{1, 4, 1});
  CHECK(judge.counts().ties == 2);
  CHECK(judge.counts().inconsistent == 0);
  CHECK(graph_of_votes(3, votes[0]).arcs == std::vector<PreferenceArc>{{1, 0, 2}, {1, 2, 2}});
}

TEST_CASE("judge: what cannot be read is no vote, and a judge of positions is found out") {
  Comparing policy;
  policy.stubborn = true;
  Judge judge(policy, {});
  const std::vector<Candidates> sets = {{kQuestion, {"3", "9", "13"}}};
  const auto votes = judge.compare(sets);
  CHECK(votes[0].size() == 2);
  CHECK(judge.counts().asked == 6);
  CHECK(judge.counts().invalid == 4);
  CHECK(judge.counts().inconsistent == 1);
  CHECK(graph_of_votes(3, votes[0]).arcs.empty());
}

TEST_CASE("judge: the best of all at once") {
  Comparing policy;
  Judge judge(policy, {});
  const std::vector<Candidates> sets = {{kQuestion, {"3", "9", "4", "1"}}, {kQuestion, {"13", "2"}}};
  const auto choices = judge.choose(sets);
  CHECK(choices[0] == 1);
  CHECK(choices[1] == std::nullopt);
  const std::vector<Candidates> many = {{kQuestion, std::vector<std::string>(27, "1")}};
  CHECK_THROWS_WITH(judge.choose(many), Catch::Contains("27 responses"));
}

TEST_CASE("judge: a request that passes its context is no verdict that cannot be read") {
  Comparing policy;
  policy.context = 40;
  Judge judge(policy, {});
  const std::vector<Candidates> sets = {{kQuestion, {"3", "9"}}, {kQuestion, {"3", "9 " + std::string(100, 'x')}}};
  std::vector<JudgeCounts> judged;
  const auto votes = judge.compare(sets, &judged);
  REQUIRE(judged.size() == 2);
  CHECK((judged[0].asked == 2 && judged[0].too_long == 0 && judged[1].asked == 2 && judged[1].too_long == 2));
  CHECK((votes[0].size() == 2 && votes[1].empty()));
  CHECK((judge.counts().asked == 4 && judge.counts().too_long == 2 && judge.counts().invalid == 0));
  CHECK(judge.choose(sets) == std::vector<std::optional<std::size_t>>{1, std::nullopt});
  CHECK((judge.counts().too_long == 3 && judge.counts().invalid == 0));
}

TEST_CASE("judge: evaluated in one order alone, the order of the file does not decide") {
  Comparing policy;
  policy.stubborn = true;  // prefers whichever comes first
  Judge judge(policy, {.swap = false});
  std::vector<Preference> preferences;
  for (int i = 0; i < 200; ++i) preferences.push_back({std::to_string(i), "c", kQuestion, {"9", "3"}, {1, 2}});
  const RankingFigures figures = ranking_figures(compared_by(judge, preferences, 1));
  CHECK(figures.best_of_n.value > 0.4);
  CHECK(figures.best_of_n.value < 0.6);
  policy.stubborn = false;
  CHECK(ranking_figures(compared_by(judge, preferences, 1)).best_of_n.value == 1);
}

TEST_CASE("judge: it is shown pictures and question, not the solver's instructions") {
  const std::vector<Message> asked = pair_request(kQuestion, "one", "two");
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].text().find("Be good") == std::string::npos);
  CHECK(asked[1].text() == "How many?\n\nResponse A:\none\n\nResponse B:\ntwo");
}
