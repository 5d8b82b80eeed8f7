#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.h"
#include "critic/self_play/game.h"
#include "env/suite.h"
#include "env/wrappers/labelled_steps.h"

using namespace agon;
using namespace agon::critic;
using Catch::Contains;

namespace {

// Continues a right step with the rest of the expert's turn, and answers wrongly after any other step. The first
// `fails` samples of each request have no answer. After "long" no completion fits the context.
class Solver : public agents::Policy {
 public:
  Solver(std::string turn, int fails) : turn_(std::move(turn)), fails_(fails) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      asked.push_back(request);
      const bool right = turn_.starts_with(request.prefix);
      for (int i = 0; i < request.n; ++i) {
        agents::Completion completion;
        completion.text = i < fails_ ? "" : right ? turn_.substr(request.prefix.size()) : "<answer>none</answer>";
        if (request.prefix.starts_with("long")) completion.finish_reason = agents::FinishReason::context;
        completions.push_back(std::move(completion));
      }
    }
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"solver", true, true, false, 1000}; }
  std::vector<agents::CompletionRequest> asked;

 private:
  std::string turn_;
  int fails_;
};

// The first step of a task of charts, and a corrupted step in its place.
struct Place {
  Place() : env(env::make_env("charts")) {
    const env::StepResult first = env->reset({env::Split::test, 4});
    Rng rng = Rng::derive(1, "self-play", "test");
    turn = env->demonstrate(rng).value().front().text;
    const env::LabelledTurnStep step = env::labelled_steps(*env, turn).front();
    pair.right = {{{Role::user, first.observation.parts, {}, {}}}, step.query.before, step.query.step, env.get()};
    pair.wrong = env::corrupted(*env, step.query, rng)->step;
  }
  std::unique_ptr<env::Env> env;
  std::string turn;
  StepPair pair;
};

Game game_with(const SolverRates& rates, std::vector<Judgement> judgements) {
  Game game;
  game.steps.right.step = "red is 4";
  game.sneaky.step = "red is 5";
  game.rates = rates;
  for (const Judgement judgement : judgements) game.verdicts.push_back({judgement, {}, {}, {}, 0});
  return game;
}

}  // namespace

TEST_CASE("solver check: a step does harm where solvers get it right without it and never with it") {
  const Place place;
  Solver good(place.turn, 0), fair(place.turn, 2), poor(place.turn, 3);
  agents::Policy* one[] = {&good};
  const StepPair same{place.pair.right, place.pair.right.step};
  const StepPair pairs[] = {place.pair, same};
  const auto rates = check_by_solvers(one, pairs);
  REQUIRE(rates.size() == 2);
  CHECK((rates[0].completions == 8 && rates[0].original == 1 && rates[0].sneaky == 0));
  CHECK(does_harm(rates[0]));
  CHECK((rates[1].sneaky == 1 && !does_harm(rates[1])));
  CHECK(good.asked.size() == 4);
  CHECK(good.asked[1].prefix == place.pair.wrong + "\n\n");
  CHECK(good.asked[0].sampling.seed != good.asked[1].sampling.seed);

  agents::Policy* three_quarters[] = {&fair};  // exactly the threshold is enough
  CHECK(check_by_solvers(three_quarters, {pairs, 1})[0].original == 0.75);
  CHECK(does_harm(check_by_solvers(three_quarters, {pairs, 1})[0]));
  agents::Policy* less[] = {&poor};
  CHECK_FALSE(does_harm(check_by_solvers(less, {pairs, 1})[0]));
  agents::Policy* both[] = {&good, &poor};  // together: 13 of 16
  CHECK(check_by_solvers(both, {pairs, 1})[0].completions == 16);
  CHECK(check_by_solvers(both, {pairs, 1})[0].original == 13.0 / 16);

  StepPair too_long = place.pair;
  too_long.wrong = "long";
  CHECK(check_by_solvers(one, {&too_long, 1})[0].completions == 0);
  CHECK_FALSE(does_harm(check_by_solvers(one, {&too_long, 1})[0]));
  CHECK(check_by_solvers(one, {}).empty());
  CHECK_THROWS_WITH(check_by_solvers({}, pairs), Contains("no solver"));
  CHECK_THROWS_WITH(check_by_solvers(one, pairs, {.completions = 0}), Contains("at least 1, got 0"));
}

namespace {

// A solver for lookup. After the right reading of the emblem it searches for that name and answers with the result;
// after any other reading its search fails, and so does its answer.
class Searcher : public agents::Policy {
 public:
  Searcher(std::string name, std::string answer) : name_(std::move(name)), answer_(std::move(answer)) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> completions;
    for (const agents::CompletionRequest& request : requests) {
      const bool knows = (request.prefix + request.messages.back().text()).find(name_) != std::string::npos;
      const std::string reply = request.prefix.empty() ? "<answer>" + (knows ? answer_ : "nobody") + "</answer>"
                                                       : "<search>" + (knows ? name_ : "nothing") + "</search>";
      for (int i = 0; i < request.n; ++i) completions.emplace_back().text = reply;
      turns += request.prefix.empty();
    }
    return completions;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"searcher", true, true, false, 1000}; }
  int turns = 0;  // requests after the first

 private:
  std::string name_, answer_;
};

}  // namespace

TEST_CASE("solver check: an episode of several turns is played to its end") {
  const auto env = env::make_env("lookup");
  const env::StepResult first = env->reset({env::Split::test, 3});
  Rng rng = Rng::derive(1, "self-play", "test");
  const env::SolutionTurn turn = env::expert_turns(*env, first, rng).front();
  const env::LabelledTurnStep step = env::labelled_steps(*turn.env, turn.text).front();
  const StepPair pair{{turn.transcript, step.query.before, step.query.step, turn.env.get()},
                      env::corrupted(*turn.env, step.query, rng)->step};
  Searcher searcher(step.label.truth, env->task().gold.get<std::string>());
  const std::vector<agents::Policy*> solvers = {&searcher};
  const SolverRates rates = check_by_solvers(solvers, std::vector{pair}, {.completions = 3}).front();
  CHECK(rates.completions == 3);
  CHECK(rates.original == 1);
  CHECK(rates.sneaky == 0);
  CHECK(searcher.turns == 2);  // three equal texts continue as one
}

TEST_CASE("games: who wins what") {
  const SolverRates harm{8, 0.75, 0}, none{8, 1, 0.125};
  CHECK(outcome_of(game_with(harm, {Judgement::correct})) == Outcome::fools);
  CHECK(outcome_of(game_with(harm, {Judgement::incorrect, Judgement::correct})) == Outcome::caught);
  CHECK(outcome_of(game_with(harm, {Judgement::invalid})) == Outcome::unjudged);
  CHECK(outcome_of(game_with(harm, {})) == Outcome::unjudged);
  CHECK(outcome_of(game_with(none, {Judgement::correct})) == Outcome::harmless);
  CHECK(outcome_of(game_with({8, 0.625, 0}, {})) == Outcome::harmless);
  Game game = game_with(harm, {Judgement::correct});
  game.sneaky.step = game.steps.right.step;
  CHECK(outcome_of(game) == Outcome::invalid);
  game.sneaky.fault = "no <step>...</step>";
  CHECK(outcome_of(game) == Outcome::invalid);

  CHECK(sneaky_reward(Outcome::fools) == 1);
  for (const Outcome lost : {Outcome::invalid, Outcome::harmless, Outcome::caught}) CHECK(sneaky_reward(lost) == -1);
  CHECK(sneaky_reward(Outcome::unjudged) == 0);
  const Verdict right{Judgement::correct, {}, {}, {}, 0}, invalid{};
  CHECK(critic_reward(right, true) == 1);
  CHECK(critic_reward(right, false) == -1);
  CHECK(critic_reward(invalid, true) == -1);
  for (const Outcome judged : {Outcome::fools, Outcome::caught}) {  // zero-sum where there is a verdict
    const Verdict verdict{judged == Outcome::fools ? Judgement::correct : Judgement::incorrect, {}, {}, {}, 0};
    CHECK(sneaky_reward(judged) + critic_reward(verdict, false) == 0);
  }
  CHECK(win_rate({game_with(harm, {Judgement::correct}), game_with(harm, {Judgement::incorrect}), game,
                  game_with(harm, {}), game_with(none, {}), game_with(harm, {Judgement::incorrect})}) ==
        Approx(1.0 / 3));
  CHECK(std::isnan(win_rate({game})));
}
