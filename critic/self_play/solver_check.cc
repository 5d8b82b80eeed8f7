#include "critic/self_play/solver_check.h"

#include <memory>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "env/protocol.h"

namespace agon::critic {
namespace {

constexpr double kSolved = 0.75;  // of the original step's completions

// Of one step.
struct Tally {
  int completions = 0, solved = 0;
  double rate() const { return completions == 0 ? 0 : static_cast<double>(solved) / completions; }
};

// An episode of a solver's that is under way.
struct Episode {
  std::size_t tally;
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
  // Tally 2 i is of pair i as it was, 2 i + 1 of the step made wrong.
  const StepPair& pair_of(std::size_t tally) const { return pairs_[tally / 2]; }

  agents::CompletionRequest request(std::vector<Message> messages, std::size_t number, int turn) const {
    agents::CompletionRequest request;
    request.messages = std::move(messages);
    request.sampling.temperature = options_.temperature;
    request.sampling.max_tokens = options_.max_tokens;
    request.sampling.seed = Rng::derive(options_.seed, "solver check", std::to_string(turn), number)();
    return request;
  }

  // The turn up to the step, and what is written behind it.
  std::string prefix_of(std::size_t tally) const {
    const StepPair& pair = pair_of(tally);
    return (pair.right.before.empty() ? "" : pair.right.before + "\n\n") + step_of(tally) + "\n\n";
  }
  const std::string& step_of(std::size_t tally) const {
    return tally % 2 == 0 ? pair_of(tally).right.step : pair_of(tally).wrong;
  }

  // The rest of the turn behind each step; behind an answer there is none. What is returned goes on.
  std::vector<Episode> finish_turns(agents::Policy& solver) {
    std::vector<agents::CompletionRequest> requests;
    std::vector<std::size_t> asked;
    std::vector<Episode> going_on;
    for (std::size_t tally = 0; tally < tallies_.size(); ++tally) {
      if (env::extract_answer(step_of(tally))) {
        for (int i = 0; i < options_.completions; ++i) step(episode_of(tally), prefix_of(tally), {}, going_on);
        continue;
      }
      asked.push_back(tally);
      requests.push_back(request(pair_of(tally).right.messages, tally, 0));
      requests.back().n = options_.completions;
      requests.back().prefix = prefix_of(tally);
    }
    const std::vector<agents::Completion> completions = solver.complete(requests);
    for (std::size_t i = 0; i < completions.size(); ++i) {
      const std::size_t of = i / static_cast<std::size_t>(options_.completions);
      step(episode_of(asked[of]), requests[of].prefix, completions[i], going_on);
    }
    return going_on;
  }

  Episode episode_of(std::size_t tally) const {
    const StepInContext& place = pair_of(tally).right;
    return {tally, place.env->fork(), place.messages};
  }

  std::vector<Episode> play_turn(agents::Policy& solver, std::vector<Episode> episodes, int turn) {
    std::vector<agents::CompletionRequest> requests;
    for (std::size_t i = 0; i < episodes.size(); ++i) requests.push_back(request(episodes[i].messages, i, turn));
    const std::vector<agents::Completion> completions = solver.complete(requests);
    std::vector<Episode> going_on;
    for (std::size_t i = 0; i < episodes.size(); ++i) step(std::move(episodes[i]), "", completions[i], going_on);
    return going_on;
  }

  void step(Episode episode, const std::string& prefix, const agents::Completion& completion,
            std::vector<Episode>& going_on) {
    if (completion.finish_reason == agents::FinishReason::context) return;
    const std::string text = prefix + completion.text;
    env::StepResult next = episode.env->step({text, {}});
    if (next.terminated || next.truncated) {
      ++tallies_[episode.tally].completions;
      tallies_[episode.tally].solved += next.info.value("success", false);
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
