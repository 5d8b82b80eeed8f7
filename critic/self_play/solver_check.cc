#include "critic/self_play/solver_check.h"

#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

constexpr double kSolved = 0.75;  // least share of the original step's completions that are right

// Results of one step.
struct Tally {
  int completions = 0, solved = 0;
  double rate() const { return completions == 0 ? 0 : static_cast<double>(solved) / completions; }
};

// `count` unfinished episodes of a solver that are equal so far and are played once.
struct Episode {
  std::size_t tally;
  int count;
  std::unique_ptr<env::Env> env;
  std::vector<Message> messages;
};

class SolverCheck {
 public:
  SolverCheck(std::span<const StepPair> pairs, const SolverCheckOptions& options)
      : pairs_(pairs), options_(options), tallies_(2 * pairs.size()) {}

  void ask(agents::Policy& solver) {
    std::vector<Episode> episodes = finish_turns(solver);
    for (int turn = 1; !episodes.empty(); ++turn) episodes = play_turn(solver, std::move(episodes), turn);
  }

  std::vector<SolverRates> rates() const {
    std::vector<SolverRates> all;
    for (std::size_t i = 0; i < tallies_.size(); i += 2) {
      const Tally &original = tallies_[i], &sneaky = tallies_[i + 1];
      const bool known = original.completions > 0 && sneaky.completions > 0;
      all.push_back(known ? SolverRates{sneaky.completions, original.rate(), sneaky.rate()} : SolverRates{});
    }
    return all;
  }

 private:
  // Tally 2 i belongs to the original step of pair i, 2 i + 1 to the step made wrong.
  const StepPair& pair_of(std::size_t tally) const { return pairs_[tally / 2]; }

  // place: number of the episode among the tally's episodes at this turn.
  agents::CompletionRequest request(std::vector<Message> messages, std::size_t tally, int turn,
                                    std::uint64_t place) const {
    const std::string step = fmt::format("{}/{}/{}", pair_of(tally).number, tally % 2 == 0 ? "right" : "wrong", turn);
    agents::CompletionRequest request;
    request.messages = std::move(messages);
    request.sampling.temperature = options_.temperature;
    request.sampling.max_tokens = options_.max_tokens;
    request.sampling.seed = Rng::derive(options_.seed, "solver check", step, place)();
    return request;
  }

  // The turn up to the step, and the text after it.
  std::string prefix_of(std::size_t tally) const {
    const StepPair& pair = pair_of(tally);
    return (pair.right.before.empty() ? "" : pair.right.before + "\n\n") + step_of(tally) + "\n\n";
  }
  const std::string& step_of(std::size_t tally) const {
    return tally % 2 == 0 ? pair_of(tally).right.step : pair_of(tally).wrong;
  }

  // Writes the rest of the turn after each step, unless the step has the answer. Returns the episodes that continue.
  std::vector<Episode> finish_turns(agents::Policy& solver) {
    std::vector<agents::CompletionRequest> requests;
    std::vector<Episode> asked, going_on;
    for (std::size_t tally = 0; tally < tallies_.size(); ++tally) {
      const StepInContext& place = pair_of(tally).right;
      Episode episode{tally, options_.completions, place.env->fork(), place.messages};
      if (env::extract_answer(step_of(tally))) {
        step(std::move(episode), prefix_of(tally), going_on);
        continue;
      }
      requests.push_back(request(place.messages, tally, 0, 0));
      requests.back().n = options_.completions;
      requests.back().prefix = prefix_of(tally);
      asked.push_back(std::move(episode));
    }
    go_on(solver, requests, std::move(asked), going_on);
    return going_on;
  }

  std::vector<Episode> play_turn(agents::Policy& solver, std::vector<Episode> episodes, int turn) {
    std::vector<agents::CompletionRequest> requests;
    std::map<std::size_t, std::uint64_t> places;  // next place of each tally
    for (const Episode& episode : episodes) {
      requests.push_back(request(episode.messages, episode.tally, turn, places[episode.tally]++));
      requests.back().n = episode.count;
    }
    std::vector<Episode> going_on;
    go_on(solver, requests, std::move(episodes), going_on);
    return going_on;
  }

  // Continues each episode with the solver, one request each; equal texts become one episode.
  void go_on(agents::Policy& solver, std::span<const agents::CompletionRequest> requests, std::vector<Episode> episodes,
             std::vector<Episode>& going_on) {
    const std::vector<agents::Completion> completions = solver.complete(requests);
    agents::require_complete(completions);
    auto next = completions.begin();
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      std::map<std::string, int> texts;
      for (int sample = 0; sample < requests[i].n; ++sample, ++next)
        if (next->finish_reason != agents::FinishReason::context) ++texts[next->text];
      for (const auto& [text, count] : texts) {
        Episode branch{episodes[i].tally, count, nullptr, episodes[i].messages};
        branch.env = text == texts.rbegin()->first ? std::move(episodes[i].env) : episodes[i].env->fork();
        step(std::move(branch), requests[i].prefix + text, going_on);
      }
    }
  }

  void step(Episode episode, const std::string& text, std::vector<Episode>& going_on) {
    env::StepResult next = episode.env->step({text, {}});
    if (next.terminated || next.truncated) {
      tallies_[episode.tally].completions += episode.count;
      if (next.success.value_or(false)) tallies_[episode.tally].solved += episode.count;
      return;
    }
    episode.messages.push_back(Message::of(Role::assistant, text));
    episode.messages.push_back({Role::user, std::move(next.observation.parts), {}, {}});
    going_on.push_back(std::move(episode));
  }

  std::span<const StepPair> pairs_;
  const SolverCheckOptions& options_;
  std::vector<Tally> tallies_;
};

}  // namespace

bool does_harm(const SolverRates& rates) {
  return rates.completions > 0 && rates.original >= kSolved && rates.sneaky == 0;
}

void require_solver(const agents::Capabilities& solver, const env::Suite& suite) {
  const bool pictures = env::shows_pictures(suite, env::Split::train, 0);
  if (pictures && !solver.images)
    throw Error("self-play: the tasks of {} have pictures, and {} takes none. Choose a solver that reads pictures.",
                suite.name(), solver.name);
  if (!solver.continues || (pictures && !solver.continues_pictures))
    throw Error(
        "self-play: a solver goes on from a step, and the server of {} cannot continue a turn that has begun{}. Use a "
        "server that can (vLLM, SGLang, llama.cpp, agon serve), name the model's folder as 'tokenizer' in the solver's "
        "YAML file, or give a model folder.",
        solver.name, solver.continues ? " behind a picture" : "");
}

std::vector<SolverRates> check_by_solvers(std::span<agents::Policy* const> solvers, std::span<const StepPair> pairs,
                                          const SolverCheckOptions& options) {
  if (options.completions < 1) throw Error("self-play: completions must be at least 1, got {}.", options.completions);
  if (solvers.empty()) throw Error("self-play: no solver is given to check steps with.");
  if (pairs.empty()) return {};
  SolverCheck check(pairs, options);
  for (agents::Policy* solver : solvers) check.ask(*solver);
  return check.rates();
}

}  // namespace agon::critic
