#include "critic/generative_critic.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/error.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

// Answers a step with the critiques listed for it, in order; every byte is a token of log-probability -0.1.
class Scripted : public agents::Policy {
 public:
  explicit Scripted(std::map<std::string, std::vector<std::string>> critiques) : critiques_(std::move(critiques)) {}

  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      asked.push_back(request);
      const std::string shown = request.messages.at(1).parts.back().text;
      const std::vector<std::string>& critiques = critiques_.at(shown.substr(shown.rfind('\n') + 1));
      for (int i = 0; i < request.n; ++i) completions.push_back(spelled(critiques.at(static_cast<std::size_t>(i))));
    }
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"scripted", true, true, false, 1000}; }

  std::vector<agents::CompletionRequest> asked;

 private:
  static agents::Completion spelled(const std::string& text) {
    agents::Completion completion;
    completion.text = text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      completion.token_ids.push_back(static_cast<unsigned char>(text[i]));
      completion.logprobs.push_back(-0.1f);
      completion.token_ends.push_back(static_cast<std::uint32_t>(i + 1));
    }
    return completion;
  }
  std::map<std::string, std::vector<std::string>> critiques_;
};

StepInContext asked_step(const std::string& text) { return {{Message::of(Role::user, "How many?")}, "", text}; }

const std::string kYes = "<Answer>Correct</Answer>", kNo = "<Answer>Incorrect</Answer>";

}  // namespace

TEST_CASE("generative critic: P(correct) is that of the verdict's own tokens") {
  Scripted policy({{"a", {"Fine.\n\n" + kYes}}, {"b", {kNo}}, {"c", {"I cannot say."}}});
  const StepInContext steps[] = {asked_step("a"), asked_step("b"), asked_step("c")};
  const auto verdicts = make_generative_critic(policy, {})->judge(steps);
  REQUIRE(verdicts.size() == 3);
  CHECK(verdicts[0].judgement == Judgement::correct);
  CHECK(verdicts[0].probability == Approx(std::exp(-0.7)));
  CHECK(verdicts[0].critique == "Fine.\n\n" + kYes);
  CHECK(verdicts[0].tokens == std::ssize(verdicts[0].critique));
  CHECK(verdicts[1].judgement == Judgement::incorrect);
  CHECK(verdicts[1].probability == Approx(1 - std::exp(-0.9)));
  CHECK(verdicts[2].judgement == Judgement::invalid);
  CHECK_FALSE(verdicts[2].probability);
  CHECK_THAT(verdicts[2].fault, Contains("no <Answer>"));
  CHECK(policy.asked.size() == 3);  // in one call
}

TEST_CASE("generative critic: several critiques vote or are averaged, what does not parse has no part in it") {
  const std::map<std::string, std::vector<std::string>> critiques = {
      {"most", {kYes, kNo, kYes}}, {"one valid", {"?", kNo, "?"}}, {"none", {"?", "", kYes.substr(0, 9)}}};
  const StepInContext steps[] = {asked_step("most"), asked_step("one valid"), asked_step("none")};
  for (const Combine combine : {Combine::vote, Combine::mean}) {
    Scripted policy(critiques);
    const auto verdicts =
        make_generative_critic(policy, {.critiques = 3, .combine = combine, .temperature = 1})->judge(steps);
    const double yes = std::exp(-0.7), no = 1 - std::exp(-0.9);
    CHECK(verdicts[0].judgement ==
          (combine == Combine::vote || (2 * yes + no) / 3 >= 0.5 ? Judgement::correct : Judgement::incorrect));
    CHECK(*verdicts[0].probability == Approx(combine == Combine::vote ? 2.0 / 3 : (2 * yes + no) / 3));
    CHECK(*verdicts[1].probability == Approx(combine == Combine::vote ? 0 : no));
    CHECK(verdicts[2].judgement == Judgement::invalid);
    CHECK_THAT(verdicts[2].fault, Contains("none of 3 critiques"));
  }
}

TEST_CASE("generative critic: a step's critique draws from what is judged, not from its place in the call") {
  Scripted policy({{"a", {kYes}}, {"b", {kNo}}});
  const StepInContext forth[] = {asked_step("a"), asked_step("b")}, back[] = {asked_step("b"), asked_step("a")};
  const auto critic = make_generative_critic(policy, {.temperature = 1});
  critic->judge(forth);
  critic->judge(back);
  CHECK(policy.asked[0].sampling.seed == policy.asked[3].sampling.seed);
  CHECK(policy.asked[0].sampling.seed != policy.asked[1].sampling.seed);
}

TEST_CASE("generative critic: settings that mean nothing are refused") {
  Scripted policy({});
  CHECK_THROWS_WITH(make_generative_critic(policy, {.critiques = 0}), Contains("at least 1"));
  CHECK_THROWS_WITH(make_generative_critic(policy, {.critiques = 4}), Contains("temperature"));
  CHECK_THROWS_WITH(parse_combine("meen"), Contains("mean"));
}
