#include "agents/rollout.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <mutex>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;

namespace {

// Answers with a number drawn from the request's seed; fails its first `failures` calls.
class DicePolicy : public Policy {
 public:
  explicit DicePolicy(int failures = 0) : failures_(failures) {}
  std::function<void()> on_complete = [] {};
  std::function<bool(const CompletionRequest&)> does_not_fit = [](const CompletionRequest&) { return false; };
  std::vector<Completion> complete(std::span<const CompletionRequest> requests) override {
    on_complete();
    if (failures_-- > 0) throw Error("the dice {} lost", "are");
    std::vector<Completion> completions;
    for (const CompletionRequest& request : requests) {
      requests_.fetch_add(1);
      if (does_not_fit(request)) {
        completions.push_back({.finish_reason = FinishReason::context, .prompt_tokens = 900});
        continue;
      }
      Rng rng(request.sampling.temperature == 0 ? 0 : request.sampling.seed);
      Completion completion;
      completion.text = "<answer>" + std::to_string(rng.between(1, 9)) + "</answer><score>0.5</score>";
      completion.token_ids = {1, 2, 3};
      completion.logprobs = {-1, -2, -3};
      completions.push_back(completion);
    }
    return completions;
  }
  std::vector<TokenScores> score(std::span<const ScoreRequest>) override { return {}; }
  Capabilities capabilities() const override { return {.name = "dice", .images = true, .max_context = 512}; }
  int requests() const { return requests_; }

 private:
  std::atomic<int> failures_, requests_ = 0;
};

std::map<std::pair<std::uint64_t, int>, record::Episode> play_all(
    Policy& policy, RolloutOptions options, const std::set<std::pair<std::uint64_t, int>>& finished = {}) {
  std::map<std::pair<std::uint64_t, int>, record::Episode> episodes;
  std::mutex mutex;
  play(policy, options, finished, [&](record::Episode episode) {
    const std::lock_guard lock(mutex);
    const auto key = std::pair{episode.task_index, episode.sample};
    REQUIRE(episodes.emplace(key, std::move(episode)).second);
  });
  return episodes;
}

RolloutOptions charts(int threads) {
  return {.suite = env::Suite("charts"), .tasks = 40, .samples = 4, .seed = 5, .threads = threads};
}

}  // namespace

TEST_CASE("the same seed plays the same episodes with 1 and with 8 threads") {
  DicePolicy policy;
  const auto one = play_all(policy, charts(1)), eight = play_all(policy, charts(8));
  REQUIRE(one.size() == 40 * 5);
  REQUIRE(eight.size() == one.size());
  std::set<std::string> texts;
  for (const auto& [key, episode] : one) {
    REQUIRE(eight.at(key).turns[0].text == episode.turns[0].text);
    REQUIRE(eight.at(key).reward == episode.reward);
    texts.insert(episode.turns[0].text);
  }
  REQUIRE(texts.size() > 3);
}

TEST_CASE("an episode records what was shown, written and answered") {
  DicePolicy policy;
  const auto episodes = play_all(policy, charts(2));
  const record::Episode& episode = episodes.at({7, 2});
  REQUIRE(episode.task_id.rfind("charts/", 0) == 0);
  REQUIRE(episode.answer.has_value());
  REQUIRE(episode.score == 0.5);
  REQUIRE(episode.turns.size() == 1);
  REQUIRE(episode.turns[0].token_ids == std::vector<std::int32_t>{1, 2, 3});
  REQUIRE(episode.turns[0].logprobs.size() == 3);
  REQUIRE(episode.success == (episode.reward == 1));
  REQUIRE(std::any_of(episode.turns[0].observation.parts.begin(), episode.turns[0].observation.parts.end(),
                      [](const Part& part) { return part.is_image(); }));
}

TEST_CASE("a transcript that outgrows the context ends its episode and no other") {
  DicePolicy policy;
  const RolloutOptions options{
      .suite = env::Suite("charts", {.two_turn = true}), .tasks = 4, .samples = 3, .seed = 5, .threads = 2};
  policy.does_not_fit = [&](const CompletionRequest& request) {
    return request.messages.size() > 3 && request.sampling.temperature == 0;
  };
  for (const auto& [key, episode] : play_all(policy, options)) {
    const bool cut = episode.sample == record::kGreedySample;
    CHECK(episode.status == record::EpisodeStatus::done);
    CHECK(episode.truncated == cut);
    REQUIRE(episode.turns.size() == (cut ? 1 : 2));
    CHECK(episode.turns.back().full_context.has_value() == cut);
    CHECK(episode.answer.has_value());
    if (cut) CHECK_FALSE(episode.success);
  }
  policy.does_not_fit = [](const CompletionRequest&) { return true; };
  for (const auto& [key, episode] : play_all(policy, options)) {
    CHECK(episode.status == record::EpisodeStatus::failed);
    CHECK_THAT(episode.failure, Catch::Contains("900 tokens") && Catch::Contains("holds 512"));
  }
}

TEST_CASE("expert turns: the expert plays up to a turn that the task chooses, and the policy writes that one") {
  DicePolicy policy;
  RolloutOptions options{.suite = env::Suite("phone"), .tasks = 30, .samples = 3, .seed = 5, .threads = 4};
  options.expert_turn = ExpertTurnRules{env::visual_arft_rules("paper")};
  const auto episodes = play_all(policy, options);
  REQUIRE(episodes.size() == 30 * 4);
  std::set<std::size_t> places;
  for (const auto& [key, episode] : episodes) {
    const std::vector<record::Turn>& turns = episode.turns;
    const std::vector<record::Turn>& others = episodes.at({key.first, 0}).turns;
    REQUIRE(turns.size() == others.size());
    places.insert(turns.size());
    for (std::size_t i = 0; i < turns.size(); ++i) {
      CHECK(turns[i].given == (i + 1 < turns.size()));
      CHECK(turns[i].token_ids.empty() == turns[i].given);
      if (turns[i].given) CHECK(turns[i].text == others[i].text);
    }
    CHECK(turns.back().reward.components.size() == 2);
    CHECK(episode.reward == turns.back().reward.total);
  }
  CHECK(places.size() >= 3);
  options.threads = 1;
  CHECK(play_all(policy, options).at({3, 1}).turns.size() == episodes.at({3, 1}).turns.size());
}

TEST_CASE("expert turns: a turn is worth what it shares with the expert's") {
  const auto env = env::make_env("charts", {.level = 2});
  const env::StepResult first = env->reset({env::Split::test, 3, 0});
  Rng rng(1);
  const ExpertTurn place = play_to_expert_turn(*env, first, rng);
  CHECK(place.given.empty());
  CHECK_FALSE(place.searches);
  const ExpertTurnRules rules{env::visual_arft_rules("paper")};
  CHECK(grade_turn(place, place.text, rules).reward.components[0].second == 1);
  const env::StepResult wrong = grade_turn(place, "<answer>no such thing</answer>", rules);
  CHECK(wrong.reward.total == 0);
  CHECK(wrong.terminated);
}

TEST_CASE("finished samples are not played again") {
  DicePolicy policy;
  std::set<std::pair<std::uint64_t, int>> finished;
  for (std::uint64_t task = 0; task < 39; ++task)
    for (int sample = record::kGreedySample; sample < 4; ++sample) finished.insert({task, sample});
  finished.insert({39, 1});
  const auto rest = play_all(policy, charts(4), finished);
  REQUIRE(rest.size() == 4);
  const auto whole = play_all(policy, charts(4));
  for (const auto& [key, episode] : rest) REQUIRE(whole.at(key).turns[0].text == episode.turns[0].text);
}

TEST_CASE("a policy that fails twice is tried again, one that keeps failing makes failed episodes, not zeros") {
  DicePolicy twice(2), forever(1 << 30);
  RolloutOptions options = charts(1);
  options.tasks = 1;
  for (const auto& [key, episode] : play_all(twice, options)) REQUIRE(episode.status == record::EpisodeStatus::done);
  const auto failed = play_all(forever, options);
  REQUIRE(failed.size() == 5);
  for (const auto& [key, episode] : failed) {
    REQUIRE(episode.status == record::EpisodeStatus::failed);
    REQUIRE(episode.failure == "the dice are lost");
  }
}

TEST_CASE("an error of the recorder ends the run and reaches the caller") {
  DicePolicy policy;
  REQUIRE_THROWS_AS(play(policy, charts(8), {}, [](record::Episode) { throw Error("disk {}", "full"); }), Error);
  REQUIRE(policy.requests() < 40 * 5);
}

TEST_CASE("a run asked to stop ends after the turns under way") {
  DicePolicy policy;
  std::atomic<bool> stop = false;
  std::atomic<int> recorded = 0;
  play(
      policy, charts(1), {},
      [&](record::Episode) {
        if (++recorded == 5) stop = true;
      },
      &stop);
  REQUIRE(recorded == 5);
}

TEST_CASE("episodes of several turns that are under way when a run is asked to stop are dropped, not cut") {
  DicePolicy policy;
  std::atomic<bool> stop = false;
  policy.on_complete = [&] { stop = true; };
  RolloutOptions options = charts(1);
  options.suite = env::Suite("phone");
  int recorded = 0;
  play(
      policy, options, {}, [&](record::Episode) { ++recorded; }, &stop);
  REQUIRE(recorded == 0);
  REQUIRE(policy.requests() == 5);  // one turn for one group
}

TEST_CASE("a task file that changes in the middle of a run changes nothing in it") {
  const test::TempFolder folder;
  const auto write = [&](const std::string& prompt) {
    std::string lines;
    for (int i = 0; i < 40; ++i)
      lines += "{\"id\": " + std::to_string(i) + ", \"prompt\": \"" + prompt +
               "\", \"answer\": 1, \"grader\": \"number\"}\n";
    write_file_atomically(folder / "tasks.jsonl", lines);
  };
  write("first");
  DicePolicy policy;
  policy.on_complete = [&] { write("second"); };
  RolloutOptions options = charts(1);
  options.suite = env::Suite("jsonl", {.file = folder / "tasks.jsonl"});
  const auto episodes = play_all(policy, options);
  REQUIRE(episodes.size() == 200);
  for (const auto& [key, episode] : episodes) REQUIRE(episode.prompt == "first");
}
