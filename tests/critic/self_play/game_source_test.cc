// Games as a source of training data, with one scripted policy in every role.
#include "critic/self_play/game_source.h"

#include <map>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>
#include "actor.h"
#include "agents/hub/prompt.h"
#include "agents/learn/loop/train_config.h"
#include "core/hash.h"
#include "env/verdict.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/role.h"
#include "env/wrappers/sneaky_role.h"
#include "error_of.h"
#include "paths.h"

using namespace agon;
using namespace agon::critic;

namespace {

const std::string kModel = agon::test::source_path("models/agon-tiny");

// An actor whose tokens are those of a model folder.
class ModelActor final : public test::Actor {
 public:
  ModelActor(const agents::ModelFolder& folder, Says says) : Actor(std::move(says)), folder_(folder) {}

 private:
  void add_tokens(const agents::CompletionRequest& request, agents::Completion& one) const override {
    one.token_ids = folder_.tokenizer->encode(one.text, false);
    one.token_ids.push_back(folder_.config.eos_token_ids.front());
    one.logprobs.assign(one.token_ids.size(), -0.5f);
    const agents::EncodedPrompt prompt =
        agents::encode_prompt(request.messages, {}, folder_.chat, *folder_.tokenizer, folder_.images, folder_.config);
    one.prompt_tokens = static_cast<int>(prompt.ids.size());
  }
  const agents::ModelFolder& folder_;
};

bool plays(const agents::CompletionRequest& request, const char* instructions) {
  return request.messages.front().text() == instructions;
}

// The generator writes "nonsense", "poison", "clear poison" or something invalid, by the number of the sample. Only
// poisons keep the solver from the answer, and the critic finds only the clear one. A critic that learns is right in
// its first sample only.
std::string says(const agents::CompletionRequest& request, int sample, bool learner) {
  static constexpr const char* kSteps[] = {"nonsense", "poison", "clear poison"};
  const std::string text = request.messages.back().text();
  if (plays(request, env::kSneakyInstructions)) {
    if (sample == 3) return "<type>none</type>";
    return env::sneaky_text(env::ErrorKind::misread_value, "", kSteps[learner ? sample : 1]);
  }
  if (plays(request, env::kCriticInstructions)) {
    const bool wrong = text.ends_with("poison");
    if (learner) return env::tagged(wrong == (sample == 0) ? env::StepVerdict::incorrect : env::StepVerdict::correct);
    return env::tagged(text.ends_with("clear poison") ? env::StepVerdict::incorrect : env::StepVerdict::correct);
  }
  return request.prefix.find("poison") == std::string::npos ? "right" : "wrong";
}

// A table of games whose solver is right after every step except a poison: it knows the answers by the pictures.
class Table {
 public:
  explicit Table(const std::string& role)
      : folder(agents::open_model_folder(kModel)),
        config(agents::load_train_config({}, std::vector<std::string>{"output=out", "policy=" + kModel, "samples=4",
                                                                      "sources=[{suite: charts, level: 1, role: " +
                                                                          role + ", prompts: 4, against: self}]"})),
        source(make_game_source(config, 0, folder)),
        policy(folder, [this, role](const agents::CompletionRequest& request, int sample) {
          seeds.emplace(request.messages.back().text(), request.sampling.seed);
          const bool sneaky = role == env::kSneaky;
          const std::string said =
              says(request, sample, plays(request, sneaky ? env::kSneakyInstructions : env::kCriticInstructions));
          return said == "right" ? "<answer>" + answer_of(request) + "</answer>" : said;
        }) {}

  std::vector<agents::TrainGroup> play(int count, std::uint64_t round = 0) {
    agents::PlayedGroups played = source->play(policy, count, round, nullptr);
    INFO(played.failure);
    CHECK(played.failed == 0);
    return std::move(played.groups);
  }

  agents::ModelFolder folder;
  agents::TrainConfig config;
  std::unique_ptr<agents::GroupSource> source;
  std::map<std::string, std::uint64_t> seeds;  // of all requests, by the text of their last message
  ModelActor policy;

 private:
  std::string answer_of(const agents::CompletionRequest& request) {
    const auto shown = request.messages.back().parts;
    for (; known_ < 400; ++known_) remember(agents::first_task_of(0) + known_);
    for (const auto& [picture, prompt, answer] : answers_)
      for (const Part& part : shown)
        if (part.is_image() && part.image.hash() == picture &&
            request.messages.back().text().find(prompt) != std::string::npos)
          return answer;
    return "unknown";
  }
  void remember(std::uint64_t task) {
    const auto env = env::make_env("charts", {.level = 1});
    const env::StepResult first = env->reset({env::Split::train, task, config.seed});
    for (const Part& part : first.observation.parts)
      if (part.is_image())
        answers_.emplace_back(part.image.hash(), env->task().prompt, env->task().gold.get<std::string>());
  }
  std::uint64_t known_ = 0;
  std::vector<std::tuple<Hash128, std::string, std::string>> answers_;
};

}  // namespace

TEST_CASE("A generator that learns is rewarded by what its steps do to solvers and to the critic") {
  Table table("sneaky");
  const auto groups = table.play(4);
  REQUIRE(groups.size() == 4);
  constexpr const char* kOutcomes[] = {"harmless", "fools", "caught", "invalid"};
  for (const agents::TrainGroup& group : groups) {
    REQUIRE(group.episodes.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      const record::Episode& episode = group.episodes[i];
      CHECK(episode.turns.front().facts.info.at("game").at("outcome") == kOutcomes[i]);
      CHECK(episode.reward == (i == 1 ? 1 : -1));
      CHECK(episode.success == (i == 1));
      CHECK(group.rollouts[i].logprobs.size() == group.rollouts[i].response.ids.size());
    }
  }
}

TEST_CASE("A critic that learns judges a harmful step and the right one of its place") {
  Table table("critic");
  const auto groups = table.play(4);
  REQUIRE(groups.size() == 4);
  std::set<std::uint64_t> seeds;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool right = g % 2 == 1;
    const record::Episode& episode = groups[g].episodes.front();
    CHECK(episode.turns.front().facts.info.at("game").at("step") == (right ? "right" : "misread_value"));
    CHECK(episode.task_index == groups[g - g % 2].episodes.front().task_index + right);
    for (std::size_t i = 0; i < 4; ++i) CHECK(groups[g].episodes[i].reward == (i == 0 ? 1 : -1));
    seeds.insert(table.seeds.at(Message{Role::user, episode.turns.front().observation.parts, {}, {}}.text()));
  }
  CHECK(seeds.size() == 4);  // no two questions draw the same critiques
}

TEST_CASE("A source of games goes on where it stood") {
  Table table("critic");
  table.play(2);
  const Json position = table.source->position();
  const auto next = table.play(2);
  table.source->restore(position);
  const auto again = table.play(2);
  REQUIRE(next.size() == again.size());
  for (std::size_t i = 0; i < next.size(); ++i)
    CHECK(next[i].episodes.front().task_id == again[i].episodes.front().task_id);
}

TEST_CASE("Games that cannot be played are refused with the reason") {
  const auto error_of = [](const std::string& source, std::vector<std::string> more = {}) {
    more.push_back("output=out");
    more.push_back("policy=" + kModel);
    more.push_back("sources=[" + source + "]");
    return test::error_of([&] { agents::load_train_config({}, more); });
  };
  using Catch::Contains;
  CHECK_THAT(error_of("{suite: charts, against: self}"), Contains("roles critic and sneaky") && Contains("solver"));
  CHECK_THAT(error_of("{suite: charts, role: critic, solvers: [x]}"), Contains("'against: self'"));
  CHECK_THAT(error_of("{suite: charts, role: critic, against: nowhere}"), Contains("'against'") && Contains("nowhere"));
  CHECK_THAT(error_of("{suite: charts, role: critic, against: self, solvers: [nowhere]}"),
             Contains("'solvers'") && Contains("nowhere"));
  CHECK_THAT(error_of("{suite: charts, role: critic, against: self}", {"filter.offline=true"}),
             Contains("filter.offline"));
  CHECK_THAT(error_of("{suite: charts, role: critic, against: self, prompts: 5}"), Contains("even") && Contains("5"));
  CHECK(error_of("{suite: charts, role: sneaky, against: self, prompts: 5}").empty());
  CHECK(error_of("{suite: charts, role: critic, against: self, solvers: [" + kModel + "]}").empty());
}
