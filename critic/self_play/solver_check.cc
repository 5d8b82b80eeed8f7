#include "critic/self_play/solver_check.h"

#include "core/error.h"
#include "core/rng.h"

namespace agon::critic {
namespace {

constexpr double kSolved = 0.75;  // of the original step's completions

// Of one step.
struct Tally {
  int completions = 0, solved = 0;
  double rate() const { return completions == 0 ? 0 : static_cast<double>(solved) / completions; }
};

class SolverCheck {
 public:
  SolverCheck(std::span<const StepPair> pairs, const SolverCheckOptions& options)
      : pairs_(pairs), options_(options), tallies_(2 * pairs.size()) {
    for (std::size_t i = 0; i < tallies_.size(); ++i) requests_.push_back(request_for(i));
  }

  void ask(agents::Policy& solver) {
    const std::vector<agents::Completion> completions = solver.complete(requests_);
    const auto each = static_cast<std::size_t>(options_.completions);
    for (std::size_t i = 0; i < completions.size(); ++i) add(i / each, completions[i]);
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
  // Request 2 i is of pair i as it was, 2 i + 1 of the step made wrong.
  agents::CompletionRequest request_for(std::size_t number) const {
    const StepPair& pair = pairs_[number / 2];
    const std::string& step = number % 2 == 0 ? pair.right.step : pair.wrong;
    agents::CompletionRequest request;
    request.messages = pair.right.messages;
    request.prefix = (pair.right.before.empty() ? "" : pair.right.before + "\n\n") + step + "\n\n";
    request.n = options_.completions;
    request.sampling.temperature = options_.temperature;
    request.sampling.max_tokens = options_.max_tokens;
    request.sampling.seed = Rng::derive(options_.seed, "solver check", request.prefix, number)();
    return request;
  }

  void add(std::size_t number, const agents::Completion& completion) {
    if (completion.finish_reason == agents::FinishReason::context) return;
    const auto env = pairs_[number / 2].right.env->fork();
    const env::StepResult end = env->step({requests_[number].prefix + completion.text, {}});
    if (!end.terminated && !end.truncated)
      throw Error("self-play: the episode of task {} goes on after the turn; only suites of one turn can be checked.",
                  env->task().id);
    ++tallies_[number].completions;
    tallies_[number].solved += end.info.value("success", false);
  }

  std::span<const StepPair> pairs_;
  const SolverCheckOptions& options_;
  std::vector<agents::CompletionRequest> requests_;
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
