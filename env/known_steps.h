// env/known_steps.h - the steps of a turn whose truth a suite knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"

namespace agon::env {

struct KnownStep {
  StepQuery query;
  int position = 0;  // among all steps of the turn
  StepLabel label;
};
// In their order. REQUIRES: env stands before that turn.
std::vector<KnownStep> known_steps(const Env& env, std::string_view turn);

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
