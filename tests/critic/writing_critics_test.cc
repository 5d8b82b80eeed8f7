#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.h"
#include "core/file.h"
#include "critic/critic_prompt.h"
#include "critic/discriminative_critic.h"
#include "critic/self_score_critic.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

StepInContext written_step(const std::string& text, const std::string& before = "") {
  return {{Message::of(Role::system, "Answer."), Message::of(Role::user, "How many?")}, before, text};
}

// Scores "Correct" with the log of the step's number and "Incorrect" with log 0.2; two tokens per text.
class Weighing : public agents::Policy {
 public:
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest>) override { return {}; }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest> requests) override {
    std::vector<agents::TokenScores> scores;
    for (const agents::ScoreRequest& request : requests) {
      CHECK(request.token_ids.empty());
      const std::string shown = request.messages.at(1).parts.back().text;
      const std::string word = shown.substr(shown.rfind('\n') + 1);
      const float logprob = std::log(request.text == "<Answer>Correct</Answer>" ? std::stof(word) : 0.2f);
      scores.push_back({word == "0.0" ? std::vector<float>{} : std::vector<float>{logprob - 1, 1}});
    }
    return scores;
  }
  agents::Capabilities capabilities() const override { return {"weighing", true, true, can_score, 1000}; }
  bool can_score = true;
};

// Continues with the listed texts, in the order of the requests.
class Going : public agents::Policy {
 public:
  explicit Going(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      prefixes.push_back(request.prefix);
      CHECK(request.messages.size() == 2);
      CHECK(request.sampling.temperature == 0);
      completions.push_back({.text = texts_.at(completions.size()), .token_ids = {1, 2, 3}});
    }
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"going", true, true, false, 1000}; }
  std::vector<std::string> prefixes;

 private:
  std::vector<std::string> texts_;
};

}  // namespace

TEST_CASE("discriminative critic: the share of the verdict Correct in both") {
  Weighing policy;
  const StepInContext steps[] = {written_step("0.6"), written_step("0.05"), written_step("0.0"), written_step("0.2")};
  const auto verdicts = make_discriminative_critic(policy)->judge(steps);
  REQUIRE(verdicts.size() == 4);
  CHECK(*verdicts[0].probability == Approx(0.75));
  CHECK(verdicts[0].judgement == Judgement::correct);
  CHECK(*verdicts[1].probability == Approx(0.2));
  CHECK(verdicts[1].judgement == Judgement::incorrect);
  CHECK(verdicts[2].judgement == Judgement::invalid);  // did not fit
  CHECK_THAT(verdicts[2].fault, Contains("context"));
  CHECK(*verdicts[3].probability == Approx(0.5));
  policy.can_score = false;
  CHECK_THROWS_WITH(make_discriminative_critic(policy), Contains("no log-probabilities"));
}

TEST_CASE("self-score critic: the turn goes on behind the step, and its score is the verdict") {
  Going policy({"so 4\n\n<answer>4</answer><score>0.9</score>", "<score>0.25</score>", "<answer>4</answer>",
                "<score>7</score>"});
  const StepInContext steps[] = {written_step("b", "a"), written_step("<answer>4</answer>", "a\n\nb"),
                                 written_step("c"), written_step("d")};
  const auto verdicts = make_self_score_critic(policy)->judge(steps);
  CHECK(policy.prefixes == std::vector<std::string>{"a\n\nb\n\n", "a\n\nb\n\n<answer>4</answer>", "c\n\n", "d\n\n"});
  REQUIRE(verdicts.size() == 4);
  CHECK(*verdicts[0].probability == 0.9);
  CHECK(verdicts[0].judgement == Judgement::correct);
  CHECK(verdicts[0].tokens == 3);
  CHECK(verdicts[1].judgement == Judgement::incorrect);
  for (const std::size_t invalid : {2, 3}) {
    CHECK(verdicts[invalid].judgement == Judgement::invalid);
    CHECK_FALSE(verdicts[invalid].probability);
    CHECK_THAT(verdicts[invalid].fault, Contains("<score>"));
    CHECK(verdicts[invalid].tokens == 3);
  }
}

TEST_CASE("critic prompts: by name, or a file") {
  CHECK_THAT(critic_instructions("short"), Contains("<Answer>Correct</Answer>"));
  const std::string all = critic_instructions("long");
  for (const char* part :
       {"General thought", "Critique", "Conclusion", "<Answer>Correct</Answer> or <Answer>Incorrect</Answer>"})
    CHECK_THAT(all, Contains(part));
  const test::TempFolder folder;
  write_file_atomically(folder / "mine.txt", "\nIs it so?\n");
  CHECK(critic_instructions(folder / "mine.txt") == "Is it so?");
  write_file_atomically(folder / "none.txt", " \n");
  CHECK_THROWS_WITH(critic_instructions(folder / "none.txt"), Contains("is empty"));
  CHECK_THROWS_WITH(critic_instructions("lang"), Contains("unknown prompt 'lang'") && Contains("short, long"));
}
