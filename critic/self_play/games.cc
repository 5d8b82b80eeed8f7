#include "critic/self_play/games.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"
#include "critic/generative_critic.h"
#include "critic/message_json.h"
#include "critic/search/journal.h"
#include "env/wrappers/critic_role.h"
#include "env/wrappers/labelled_steps.h"

namespace agon::critic {
namespace {

agents::CompletionRequest sneaky_request(const Challenge& challenge, const GameOptions& options) {
  agents::CompletionRequest request;
  request.messages = sneaky_messages(challenge.right);
  request.sampling.temperature = options.temperature;
  request.sampling.max_tokens = options.max_tokens;
  request.sampling.seed = Rng::derive(options.seed, "sneaky", challenge.suite, challenge.number)();
  request.sampling.stop = {"</step>"};
  return request;
}

// A solver's solution, in the form of expert_turns. If it outgrows the context, its last turn is not the end of the
// episode.
std::vector<env::SolutionTurn> solver_turns(const Opening& opening, const env::Env& env, const env::StepResult& first,
                                            const std::string& instructions, std::uint64_t seed) {
  std::vector<env::SolutionTurn> turns;
  std::vector<Message> transcript{{Role::user, first.observation.parts, {}, {}}};
  const std::unique_ptr<env::Env> at = env.fork();
  for (bool over = false; !over;) {
    agents::CompletionRequest request;
    if (!instructions.empty()) request.messages.push_back(Message::of(Role::system, instructions));
    request.messages.insert(request.messages.end(), transcript.begin(), transcript.end());
    request.sampling.max_tokens = opening.max_tokens;
    request.sampling.seed = Rng::derive(seed, "opening", env.task().id, turns.size())();
    const std::vector<agents::Completion> completions = opening.solver->complete(std::span(&request, 1));
    agents::require_complete(completions);
    const agents::Completion& written = completions.at(0);
    if (written.finish_reason == agents::FinishReason::context) return turns;
    turns.push_back({transcript, at->fork(), written.text});
    env::StepResult next = at->step({written.text, {}});
    transcript.push_back(Message::of(Role::assistant, written.text));
    transcript.push_back({Role::user, std::move(next.observation.parts), {}, {}});
    over = next.terminated || next.truncated;
  }
  return turns;
}

Json verdicts_json(const std::vector<Verdict>& verdicts, bool correct) {
  Json list = Json::array();
  for (const Verdict& verdict : verdicts) {
    list.push_back(verdict_json(verdict));
    list.back()["reward"] = critic_reward(verdict, correct);
  }
  return list;
}

std::vector<Verdict> verdicts_in(const Json& list) {
  std::vector<Verdict> verdicts;
  for (const Json& json : list) verdicts.push_back(verdict_in(json));
  return verdicts;
}

}  // namespace

std::unique_ptr<Challenge> draw_challenge(const env::Env& new_env, const std::string& suite,
                                          const std::string& instructions, std::uint64_t seed, std::uint64_t number,
                                          const Opening& opening) {
  auto challenge = std::make_unique<Challenge>();
  challenge->number = number;
  challenge->suite = suite;
  const std::unique_ptr<env::Env> env = new_env.fork();
  const env::StepResult first = env->reset({env::Split::train, number, seed});
  Rng rng = Rng::derive(seed, "challenge", suite, number);
  const std::vector<env::SolutionTurn> turns =
      opening.solver ? solver_turns(opening, *env, first, instructions, seed) : env::expert_turns(*env, first, rng);
  if (turns.empty() && !opening.solver)
    throw Error("self-play: suite '{}' has no expert; games are played on steps of one. Try charts or shapes.", suite);
  std::vector<std::pair<const env::SolutionTurn*, env::StepQuery>> steps;
  for (const env::SolutionTurn& turn : turns)
    for (const env::LabelledTurnStep& step : env::labelled_steps(*turn.env, turn.text))
      if (step.label.correct && env::corrupted(*turn.env, step.query, rng)) steps.emplace_back(&turn, step.query);
  if (steps.empty()) return nullptr;
  const auto& [turn, chosen] = rng.pick(steps);
  challenge->env = turn->env;
  if (!instructions.empty()) challenge->right.messages.push_back(Message::of(Role::system, instructions));
  challenge->right.messages.insert(challenge->right.messages.end(), turn->transcript.begin(), turn->transcript.end());
  challenge->right.before = chosen.before;
  challenge->right.step = chosen.step;
  challenge->right.env = challenge->env.get();
  return challenge;
}

std::vector<Message> sneaky_messages(const StepInContext& right) {
  return {Message::of(Role::system, env::kSneakyInstructions),
          {Role::user, env::step_request(right.messages, right.before, "Correct Step", right.step), {}, {}}};
}

PlayedGame begin_game(std::shared_ptr<const Challenge> challenge, std::string sneaky_text) {
  PlayedGame game{std::move(challenge), std::move(sneaky_text), {}, {}};
  game.game.sneaky = env::parse_sneaky(game.sneaky_text);
  game.game.steps = {game.challenge->right, game.game.sneaky.step, game.challenge->number};
  return game;
}

bool is_valid(const PlayedGame& game) { return outcome_of(game.game) != Outcome::invalid; }

std::optional<bool> is_wrong(const PlayedGame& game) {
  if (!is_valid(game)) return std::nullopt;
  const auto label = game.challenge->env->check_step({game.challenge->right.before, game.game.sneaky.step});
  return label ? std::optional(!label->correct) : std::nullopt;
}

void ask_solvers(const std::vector<agents::Policy*>& solvers, std::span<PlayedGame> games,
                 const SolverCheckOptions& options) {
  std::vector<StepPair> pairs;
  std::vector<PlayedGame*> owners;
  for (PlayedGame& game : games) {
    if (!is_valid(game)) continue;
    pairs.push_back(game.game.steps);
    owners.push_back(&game);
  }
  const std::vector<SolverRates> rates = check_by_solvers(solvers, pairs, options);
  for (std::size_t i = 0; i < owners.size(); ++i) owners[i]->game.rates = rates[i];
}

void ask_critic(agents::Policy& critic, std::span<PlayedGame> games, const GameOptions& options, AskOf asked) {
  std::vector<StepInContext> steps;
  std::vector<std::vector<Verdict>*> places;
  for (PlayedGame& game : games) {
    if (asked == AskOf::all_steps) {
      steps.push_back(game.challenge->right);
      places.push_back(&game.right_verdicts);
    }
    if (!is_valid(game)) continue;
    steps.push_back(game.challenge->right);
    steps.back().step = game.game.sneaky.step;
    places.push_back(&game.game.verdicts);
  }
  GenerativeCriticOptions critique;
  critique.critiques = options.critiques;
  critique.temperature = options.temperature;
  critique.max_tokens = options.max_tokens;
  critique.seed = options.seed;
  std::vector<std::vector<Verdict>> verdicts = write_critiques(critic, critique, steps);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = std::move(verdicts[i]);
}

std::vector<PlayedGame> play_games(const Players& players, std::vector<std::shared_ptr<const Challenge>> challenges,
                                   const GameOptions& options) {
  std::vector<agents::CompletionRequest> requests;
  for (const auto& challenge : challenges) requests.push_back(sneaky_request(*challenge, options));
  std::vector<agents::Completion> written = players.sneaky->complete(requests);
  agents::require_complete(written);
  std::vector<PlayedGame> games;
  for (std::size_t i = 0; i < challenges.size(); ++i)
    games.push_back(begin_game(std::move(challenges[i]), std::move(written.at(i).text)));
  ask_solvers(players.solvers, games, options.solvers);
  ask_critic(*players.critic, games, options, AskOf::all_steps);
  return games;
}

Json game_json(const PlayedGame& played, std::vector<Image>& images) {
  const Challenge& challenge = *played.challenge;
  const Game& game = played.game;
  const Outcome outcome = outcome_of(game);
  const std::optional<bool> wrong = is_wrong(played);
  return {{"number", challenge.number},
          {"suite", challenge.suite},
          {"task", challenge.env->task().id},
          {"messages", messages_json(challenge.right.messages, images)},
          {"before", challenge.right.before},
          {"step", challenge.right.step},
          {"sneaky", text_json(played.sneaky_text)},
          {"type", game.sneaky.fault.empty() ? Json(env::to_string(game.sneaky.kind)) : Json()},
          {"sneaky_step", text_json(game.sneaky.step)},
          {"fault", text_json(game.sneaky.fault)},
          {"rates",
           {{"completions", game.rates.completions}, {"original", game.rates.original}, {"sneaky", game.rates.sneaky}}},
          {"verdicts", verdicts_json(game.verdicts, false)},
          {"right_verdicts", verdicts_json(played.right_verdicts, true)},
          {"outcome", to_string(outcome)},
          {"reward", sneaky_reward(outcome)},
          {"wrong", wrong ? Json(*wrong) : Json()}};
}

PlayedGame game_in(const Json& json, std::shared_ptr<const Challenge> challenge) {
  PlayedGame played = begin_game(std::move(challenge), text_of(json.at("sneaky")));
  played.right_verdicts = verdicts_in(json.at("right_verdicts"));
  const Json& rates = json.at("rates");
  played.game.rates = {rates.at("completions").get<int>(), rates.at("original").get<double>(),
                       rates.at("sneaky").get<double>()};
  played.game.verdicts = verdicts_in(json.at("verdicts"));
  return played;
}

}  // namespace agon::critic
