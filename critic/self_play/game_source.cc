#include "critic/self_play/game_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/engine/local_policy.h"
#include "agents/open_policy.h"
#include "agents/rollout.h"
#include "core/error.h"
#include "core/rng.h"
#include "critic/critic_prompt.h"
#include "critic/generative_critic.h"
#include "critic/self_play/games.h"
#include "critic/self_play/solver_check.h"
#include "env/suite.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/role.h"
#include "env/wrappers/sneaky_role.h"

namespace agon::critic {
namespace {

using agents::PlayedGroups;

// A request to the learner, and the place in a turn that it is about.
struct Question {
  std::shared_ptr<const Challenge> challenge;
  std::vector<Message> messages;
  bool right = false;  // the question is about the right step of the place, which counts as a separate task
};

// The result of a game for one answer.
struct Result {
  double reward = 0;
  Json info;
};

// The step of a critic's question.
struct StepToJudge {
  PlayedGame game;
  bool right;  // the original step; false: made wrong
};

class PlayedGames final : public agents::GroupSource {
 public:
  PlayedGames(const agents::PlayConfig& config, std::size_t index, const agents::ModelFolder& folder)
      : config_(config),
        source_(config.sources[index]),
        folder_(folder),
        next_(agents::first_task_of(index)),
        solver_(source_.suite.with_role(env::kSolver)),
        env_(solver_.make_env()) {
    if (!source_.game->against.empty()) opponent_ = load(source_.game->against);
    for (const auto& solver : source_.game->solvers) {
      solvers_.push_back(load(solver));
      require_solver(solvers_.back()->capabilities(), solver_);
    }
  }

  PlayedGroups play(agents::Policy& policy, int count, std::uint64_t round, const std::atomic<bool>* stop) override {
    const Table table{policy, opponent_ ? *opponent_ : policy, players(policy), round, stop};
    try {
      return source_.suite.options().role == env::kSneaky ? play_sneaky(table, count) : play_critic(table, count);
    } catch (const Error& error) {
      PlayedGroups played;
      played.fail(error.what(), count);
      return played;
    }
  }

  Json position() const override { return {{"next", next_}}; }
  void restore(const Json& position) override { next_ = position.at("next").get<std::uint64_t>(); }
  const agents::TrainSource& source() const override { return source_; }

 private:
  // The players of one round.
  struct Table {
    agents::Policy &learner, &opponent;
    std::vector<agents::Policy*> solvers;
    std::uint64_t round;
    const std::atomic<bool>* stop;
    bool stopped() const { return stop && *stop; }
  };

  std::unique_ptr<agents::Policy> load(const std::filesystem::path& model) const {
    agents::PolicySource source = agents::policy_source(model.string());
    return agents::open_policy(source, {.threads = config_.threads});
  }

  std::vector<agents::Policy*> players(agents::Policy& policy) const {
    if (solvers_.empty()) return {&policy};
    std::vector<agents::Policy*> all;
    for (const auto& solver : solvers_) all.push_back(solver.get());
    return all;
  }

  // Draws `count` challenges; skips tasks without a step that can be made wrong.
  std::vector<std::shared_ptr<const Challenge>> draw(int count) {
    constexpr int kPatience = 1000;
    std::vector<std::shared_ptr<const Challenge>> challenges;
    for (int missed = 0; std::ssize(challenges) < count;) {
      if (auto challenge = draw_challenge(*env_, solver_.name(), solver_.info().instructions, config_.seed, next_++))
        challenges.push_back(std::move(challenge));
      else if (++missed == kPatience)
        throw Error("self-play: {} tasks of {} have no step that can be made wrong.", missed, solver_.name());
    }
    return challenges;
  }

  std::uint64_t seed(const char* who, std::uint64_t number, const Table& table) const {
    return Rng::derive(Rng::derive(config_.seed, "game", who, number)(), "round", {}, table.round)();
  }

  GameOptions options(const Table& table) const {
    GameOptions options;
    options.critiques = 1;
    options.temperature = config_.sampling.temperature;
    options.max_tokens = options.solvers.max_tokens = config_.sampling.max_tokens;
    options.seed = options.solvers.seed = seed("others", next_, table);
    return options;
  }

  agents::CompletionRequest request(const Challenge& challenge, std::vector<Message> messages, int samples,
                                    const char* who, const Table& table) const {
    agents::CompletionRequest request;
    request.messages = std::move(messages);
    request.n = samples;
    request.sampling = config_.sampling;
    request.sampling.seed = seed(who, challenge.number, table);
    request.sampling.stop = {"</step>", "</Answer>"};  // the game ignores text after these
    return request;
  }

  // `samples` answers of the learner to each question.
  std::vector<agents::Completion> ask(const std::vector<Question>& questions, const Table& table) const {
    std::vector<agents::CompletionRequest> requests;
    for (const Question& question : questions)
      requests.push_back(request(*question.challenge, question.messages, config_.samples,
                                 question.right ? "learner, right step" : "learner", table));
    return table.learner.complete(requests);
  }

  PlayedGroups play_sneaky(const Table& table, int count) {
    std::vector<Question> questions;
    for (auto& challenge : draw(count)) {
      std::vector<Message> messages = sneaky_messages(challenge->right);
      questions.push_back({std::move(challenge), std::move(messages)});
    }
    const std::vector<agents::Completion> written = ask(questions, table);
    std::vector<PlayedGame> games;
    for (std::size_t i = 0; i < written.size(); ++i)
      games.push_back(begin_game(questions[i / static_cast<std::size_t>(config_.samples)].challenge, written[i].text));
    if (table.stopped()) return {};
    ask_solvers(table.solvers, games, options(table).solvers);
    if (table.stopped()) return {};
    ask_critic(table.opponent, games, options(table), AskOf::wrong_steps);
    std::vector<Result> results;
    for (const PlayedGame& game : games)
      results.push_back(
          {sneaky_reward(outcome_of(game.game)), about(game, "outcome", to_string(outcome_of(game.game)))});
    return groups_of(questions, written, results);
  }

  PlayedGroups play_critic(const Table& table, int count) {
    const std::vector<StepToJudge> steps = steps_to_judge(table, count);
    if (steps.empty() || table.stopped()) {
      PlayedGroups none;
      none.failure = fmt::format("{}: no step that the generator made wrong does harm", source_.label());
      return none;
    }
    std::vector<Question> questions;
    for (const StepToJudge& judged : steps) {
      StepInContext step = judged.game.challenge->right;
      if (!judged.right) step.step = judged.game.game.sneaky.step;
      questions.push_back({judged.game.challenge, critic_messages(step, ""), judged.right});
    }
    const std::vector<agents::Completion> critiques = ask(questions, table);
    std::vector<Result> results;
    for (std::size_t i = 0; i < critiques.size(); ++i) {
      const StepToJudge& judged = steps[i / static_cast<std::size_t>(config_.samples)];
      const Verdict verdict = verdict_of(critiques[i]);
      results.push_back({critic_reward(verdict, judged.right),
                         about(judged.game, "step", judged.right ? "right" : to_string(judged.game.game.sneaky.kind))});
      results.back().info["verdict"] = to_string(verdict.judgement);
    }
    return groups_of(questions, critiques, results);
  }

  // Harmful steps that the opponent made wrong, each followed by the right step of the same place, so that the place
  // itself gives no hint. `count` steps in total, or fewer if the opponent does not make enough in 8 x `count` games.
  std::vector<StepToJudge> steps_to_judge(const Table& table, int count) {
    constexpr int kTries = 8, kAtOnce = 16;
    std::vector<StepToJudge> steps;
    for (int played = 0; played < kTries * count && std::ssize(steps) < count && !table.stopped(); played += kAtOnce)
      for (PlayedGame& game : play_opponent(table, kAtOnce)) {
        if (!does_harm(game.game.rates)) continue;
        steps.push_back({game, false});
        steps.push_back({std::move(game), true});
      }
    steps.resize(std::min(steps.size(), static_cast<std::size_t>(count)));  // both sizes are even: half are right
    return steps;
  }

  std::vector<PlayedGame> play_opponent(const Table& table, int count) {
    std::vector<agents::CompletionRequest> requests;
    auto challenges = draw(count);
    for (const auto& challenge : challenges)
      requests.push_back(request(*challenge, sneaky_messages(challenge->right), 1, "opponent", table));
    const std::vector<agents::Completion> written = table.opponent.complete(requests);
    std::vector<PlayedGame> games;
    for (std::size_t i = 0; i < written.size(); ++i)
      games.push_back(begin_game(std::move(challenges[i]), written[i].text));
    ask_solvers(table.solvers, games, options(table).solvers);
    return games;
  }

  Json about(const PlayedGame& game, const char* what, std::string_view value) const {
    const SolverRates& rates = game.game.rates;
    Json json{{what, value},
              {"rates", {{"completions", rates.completions}, {"original", rates.original}, {"sneaky", rates.sneaky}}},
              {"against", source_.game->against.empty() ? "self" : source_.game->against.string()}};
    if (is_valid(game)) json["type"] = env::to_string(game.game.sneaky.kind);
    return json;
  }

  PlayedGroups groups_of(const std::vector<Question>& questions, const std::vector<agents::Completion>& answers,
                         const std::vector<Result>& results) {
    const auto samples = static_cast<std::size_t>(config_.samples);
    PlayedGroups played;
    for (std::size_t q = 0; q < questions.size(); ++q) {
      std::vector<record::Episode> episodes;
      for (std::size_t i = 0; i < samples; ++i)
        episodes.push_back(
            episode(questions[q], static_cast<int>(i), answers[q * samples + i], results[q * samples + i]));
      played.add(std::move(episodes), static_cast<std::size_t>(&source_ - config_.sources.data()),
                 questions[q].messages.front().text(), folder_, config_.step_rule);
    }
    return played;
  }

  record::Episode episode(const Question& question, int sample, const agents::Completion& answer,
                          const Result& result) const {
    const env::TaskInfo& task = question.challenge->env->task();
    record::Episode episode;
    episode.task_id = fmt::format("{}/{}{}", task.id, source_.suite.options().role, question.right ? "/right" : "");
    episode.task_index = 2 * question.challenge->number + question.right;
    episode.level = task.level;
    episode.kind = task.kind;
    episode.prompt = task.prompt;
    episode.sample = sample;
    episode.reward = result.reward;
    record::Turn& turn = episode.turns.emplace_back();
    turn.observation.parts = question.messages.back().parts;
    // answer.text may end within the last token
    turn.text = folder_.tokenizer->decode(answer.token_ids, true, agents::TextPlace::within);
    turn.token_ids = answer.token_ids;
    turn.logprobs = answer.logprobs;
    turn.finish_reason = to_string(answer.finish_reason);
    turn.prompt_tokens = answer.prompt_tokens;
    turn.reward = {result.reward, {{"accuracy", result.reward}}};
    turn.facts.info["game"] = result.info;
    env::StepResult last;
    last.terminated = true;
    last.success = result.reward > 0;
    agents::finish_episode(episode, last);
    return episode;
  }

  const agents::PlayConfig& config_;
  const agents::TrainSource& source_;
  const agents::ModelFolder& folder_;
  std::uint64_t next_;
  const env::Suite solver_;  // the suite in the solver's role
  const std::unique_ptr<env::Env> env_;
  std::unique_ptr<agents::Policy> opponent_;
  std::vector<std::unique_ptr<agents::Policy>> solvers_;
};

}  // namespace

std::unique_ptr<agents::GroupSource> make_game_source(const agents::PlayConfig& config, std::size_t index,
                                                      const agents::ModelFolder& folder) {
  return std::make_unique<PlayedGames>(config, index, folder);
}

}  // namespace agon::critic
