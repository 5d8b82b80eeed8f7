#include "critic/reward_model/preference_maker.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "core/error.h"
#include "env/wrappers/labelled_steps.h"

using namespace agon;
using namespace agon::critic;

namespace {

// Answers with numbers from 1000 on, each of them in two samples; no task of charts has such an answer.
class Halfway : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests)
      for (int i = 0; i < request.n; ++i)
        completions.push_back({.text = "<answer>" + std::to_string(1000 + i / 2) + "</answer>"});
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"halfway", true, true, false, 1000}; }
};

// Writes the expert's solution, the same with babble before the answer, or babble and a wrong answer.
class Babbling : public agents::Policy {
 public:
  explicit Babbling(std::string solution) : solution_(std::move(solution)) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    const std::string babble = solution_.substr(0, solution_.rfind("<answer>")) + "so it must be\n\n";
    const std::string answer = solution_.substr(solution_.rfind("<answer>"));
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests)
      for (int i = 0; i < request.n; ++i)
        completions.push_back({.text = i % 3 == 0   ? solution_
                                       : i % 3 == 1 ? babble + answer
                                                    : babble + "<answer>1000</answer>"});
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"babbling", true, true, false, 1000}; }

 private:
  std::string solution_;
};

// Prefers the shorter response; equal lengths are a tie.
class Short : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      const std::string shown = request.messages.back().text();
      const std::size_t a = shown.find("Response A:"), b = shown.find("\n\nResponse B:");
      const std::size_t first = b - a, second = shown.size() - b - 2;
      completions.push_back({.text = first < second ? "[[A]]" : first > second ? "[[B]]" : "[[C]]"});
    }
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"short", true, true, false, 1000}; }
};

PreferenceOptions charts_options() {
  PreferenceOptions options{.suite = env::Suite("charts")};
  options.samples = 4;
  options.corrupted = 6;
  options.responses = 3;
  return options;
}

}  // namespace

TEST_CASE("choose_responses: every subset with one that is the only best, with the same chance") {
  const std::vector<int> rank = {1, 1, 2, 3, 3};
  std::map<std::vector<std::size_t>, int> counts;
  Rng rng(3);
  constexpr int kDraws = 14000;
  for (int i = 0; i < kDraws; ++i) ++counts[choose_responses(worse_by_rank(rank), 3, rng).value()];
  // Best 0 or 1: two of {2, 3, 4}; best 2: {3, 4}.
  CHECK(counts.size() == 7);
  for (const auto& [subset, count] : counts) {
    CHECK(std::is_sorted(subset.begin(), subset.end()));
    CHECK(count == Approx(kDraws / 7).epsilon(0.1));
  }
  CHECK(choose_responses(worse_by_rank({1, 1, 1}), 2, rng) == std::nullopt);
  CHECK(choose_responses(worse_by_rank({1, 1, 2}), 3, rng) == std::nullopt);
  CHECK(choose_responses(worse_by_rank({2, 1}), 2, rng) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("ranks: right ones first, then by right steps") {
  CHECK(
      ranks_of(
          {{"a", "", 0.1, false, 0.5}, {"b", "", 0.8, true, 0.2}, {"c", "", 0, false, 1}, {"d", "", 0, false, 0.5}}) ==
      std::vector<int>{3, 1, 2, 3});
  CHECK(ranks_of({{"a", "", 0.9, true, 1}, {"b", "", 0.8, true, 1}}) == std::vector<int>{1, 1});
}

TEST_CASE("ranks by votes: judges that know nothing rank nothing") {
  const std::vector<KnownResponse> responses = {{"a", "", 0, false, 0}, {"b", "", 0, false, 0}, {"c", "", 0, false, 0}};
  VotedRanking voted;
  CHECK(ranks_of_votes(responses, {{3, {}}}, voted) == std::vector<int>{1, 1, 1});
  CHECK(ranks_of_votes(responses, {{3, {{2, 0, 1}, {0, 1, 1}}}, {3, {{1, 2, 0.5}}}}, voted) ==
        std::vector<int>{2, 3, 1});
  CHECK(voted.removed == std::vector<PreferenceArc>{{1, 2, 0.5}});
  CHECK(voted.order == std::vector<int>{2, 0, 1});
}

TEST_CASE("ranks by votes: what no judge tells apart has equal ranks, whatever it says") {
  const std::vector<KnownResponse> responses = {{"z", "", 0, false, 0}, {"a", "", 0, false, 0}, {"m", "", 0, false, 0}};
  VotedRanking voted;
  CHECK(ranks_of_votes(responses, {{3, {{0, 1, 1}, {0, 2, 1}}}}, voted) == std::vector<int>{1, 2, 2});
  CHECK(ranks_of_votes(responses, {{3, {{1, 2, 1}}}}, voted) == std::vector<int>{1, 1, 2});
  Rng rng(1);  // 0 is before no other, so it is in no subset of three
  CHECK(choose_responses(descendants(voted.graph), 3, rng) == std::nullopt);
  CHECK(choose_responses(descendants(voted.graph), 2, rng) == std::vector<std::size_t>{1, 2});
}

TEST_CASE("preference maker: responses are graded, corrupted ones among them, and told apart") {
  Halfway policy;
  PreferenceMaker maker(charts_options(), {{&policy, "halfway T=1", 1}}, {});
  const auto env = env::make_env("charts");
  int sets = 0;
  for (const auto& made : maker.make({0, 1, 2, 3, 4, 5})) {
    if (!made) continue;
    ++sets;
    CHECK(made->preference.responses.size() == 3);
    CHECK(std::ranges::count(made->preference.rank, 1) == 1);
    std::set<std::string> texts;
    bool corrupted = false;
    env->reset({env::Split::train, made->task, 0});
    for (const KnownResponse& one : made->responses) {
      CHECK(texts.insert(one.text).second);
      const env::StepResult result = env->fork()->step({one.text, {}});
      CHECK(result.reward.total == one.reward);
      CHECK(result.success == one.right);
      if (one.source != "corrupted") continue;
      corrupted = true;
      CHECK(one.right_steps < 1);
    }
    CHECK(corrupted);
    CHECK(made->preference.messages.back().parts.front().is_image());
    // Checks that it is the same after a round trip through a journal.
    std::vector<Image> images;
    const Json body = made_json(*made, images);
    const Preference back = preference_in(body, [&](const std::string& hash) {
      return *std::ranges::find_if(images, [&](const Image& image) { return image.hash().hex() == hash; });
    });
    CHECK(back.responses == made->preference.responses);
    CHECK(back.rank == made->preference.rank);
    CHECK(back.messages.back().parts.front().image == made->preference.messages.back().parts.front().image);
  }
  CHECK(sets >= 5);
}

TEST_CASE("preference maker: judges rank in the suite's place") {
  Halfway policy;
  Short judge_policy;
  Judge judge(judge_policy, {});
  PreferenceMaker maker(charts_options(), {{&policy, "halfway T=1", 1}}, {&judge});
  for (const auto& made : maker.make({0, 1, 2})) {
    REQUIRE(made);
    const auto length = [&](std::size_t place) { return made->responses.at(place).text.size(); };
    for (std::size_t i = 0; i < made->rank.size(); ++i)
      for (std::size_t k = 0; k < made->rank.size(); ++k)
        CHECK((made->rank[i] < made->rank[k]) == (length(i) < length(k)));
    CHECK(std::ranges::count(made->preference.rank, 1) == 1);
    CHECK(made->voted.graph.items == static_cast<int>(made->responses.size()));
    std::vector<Image> images;
    const Json body = made_json(*made, images);
    CHECK(body.at("graph").at("removed").empty());
    const auto image = [&](const std::string&) { return images.front(); };
    CHECK(preference_in(body, image).rank == made->preference.rank);
  }
}

TEST_CASE("preference maker: what the suite cannot tell is worse than what is right, and better than a wrong answer") {
  const auto env = env::make_env("charts");
  const env::StepResult first = env->reset({env::Split::train, 0, 0});
  Rng rng(1);
  Babbling policy(env::expert_turns(*env, first, rng).at(0).text);
  PreferenceOptions options = charts_options();
  options.samples = 3;
  options.corrupted = 0;
  PreferenceMaker maker(options, {{&policy, "babbling T=1", 1}}, {});
  const auto made = maker.make({0});
  REQUIRE(made.at(0));
  CHECK(made[0]->preference.rank == std::vector<int>{1, 2, 3});
  CHECK(made[0]->responses.at(0).right_steps == 1);
}

TEST_CASE("preference maker: without samples the corrupted ones are all there is") {
  PreferenceOptions options = charts_options();
  options.samples = 0;
  options.responses = 2;
  Halfway policy;
  PreferenceMaker maker(options, {{&policy, "halfway T=1", 1}}, {});
  for (const auto& made : maker.make({0, 1, 2, 3}))
    if (made) CHECK(std::ranges::all_of(made->responses, [](const auto& one) { return one.source == "corrupted"; }));
  options.corrupted = 0;
  CHECK_THROWS_WITH(PreferenceMaker(options, {}, {}), Catch::Contains("both 0"));
}

TEST_CASE("preference maker: a suite of several turns is refused") {
  const PreferenceOptions options{.suite = env::Suite("phone")};
  CHECK_THROWS_WITH(PreferenceMaker(options, {}, {}), Catch::Contains("phone has up to"));
}
