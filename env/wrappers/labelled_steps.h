// env/wrappers/labelled_steps.h - finds the steps of a solution that a suite can label as right or wrong, and makes
// right steps wrong.
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
// The steps of a turn that env can label, in order. REQUIRES: env is in the state before that turn.
std::vector<LabelledTurnStep> labelled_steps(const Env& env, std::string_view turn);

// A turn of the expert's solution, with the state before it.
struct SolutionTurn {
  std::vector<Message> transcript;  // from the first observation on, without the suite's instructions
  std::shared_ptr<const Env> env;   // before the turn
  std::string text;
};
// The expert's solution of the task to which env has just been reset; `first`: the result of that reset. Empty if the
// suite has no expert. Plays on forks of env.
std::vector<SolutionTurn> expert_turns(const Env& env, const StepResult& first, Rng& rng);

// Whether the suite can label any step of its expert's solution of the first test task; without labels an oracle has no
// verdicts. Throws what Suite::make_env and Env::reset throw.
bool has_labelled_steps(const Suite& suite);

// A right step made wrong.
struct CorruptedStep {
  ErrorKind kind = ErrorKind::calculation;
  std::string step;
  StepLabel label;  // why it is wrong
};
// Makes a right step wrong by a kind of error that fits, drawn at random; nullopt if none fits. unjustified_jump fits
// nearly every step and is recognisable by its form alone, so with probability 0.8 the other kinds are tried first.
// REQUIRES: the suite knows that `right` is right.
std::optional<CorruptedStep> corrupted(const Env& env, const StepQuery& right, Rng& rng);

}  // namespace agon::env
