// env/wrappers/labelled_steps.h - labelled steps: the steps of a turn for which a suite knows the truth.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

struct LabelledTurnStep {
  StepQuery query;
  int position = 0;  // among all steps of the turn
  StepLabel label;
};
// In their order. REQUIRES: env stands before that turn.
std::vector<LabelledTurnStep> labelled_steps(const Env& env, std::string_view turn);

// A turn of the expert's solution, still to be written.
struct SolutionTurn {
  std::vector<Message> transcript;  // from the first observation on, without the suite's instructions
  std::shared_ptr<const Env> env;   // before the turn
  std::string text;
};
// The solution of the task that env has just been reset to, by `first`; nothing where the suite has no expert. Plays
// on forks of env.
std::vector<SolutionTurn> expert_turns(const Env& env, const StepResult& first, Rng& rng);

// Whether the suite knows any step of its expert's first solution: else an oracle has nothing to say. Throws what
// Suite::make_env and Env::reset throw.
bool has_labelled_steps(const Suite& suite);

// A right step made wrong.
struct CorruptedStep {
  ErrorKind kind = ErrorKind::calculation;
  std::string step;
  StepLabel label;  // why it is wrong
};
// With an error of a kind that fits, drawn at random; nothing where none does. A jump to another step fits nearly
// everywhere and shows by its form alone, so others go before it four times in five. REQUIRES: the suite knows `right`
// to be right.
std::optional<CorruptedStep> corrupted(const Env& env, const StepQuery& right, Rng& rng);

}  // namespace agon::env
