// critic/critic.h - StepCritic, the interface of critics: a critic judges whether one step of a turn is right.
// Thread-safe: any thread may call, calls block, and the critic batches requests itself. No torch here.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/env.h"

namespace agon::critic {

// A step and what precedes it.
struct StepInContext {
  std::vector<Message> messages;  // the transcript before the turn, pictures included, as the solver saw it
  std::string before;             // text of the turn before the step (steps separated by blank lines)
  std::string step;
  const env::Env* env = nullptr;  // env of that turn, for critics that ask the suite; not owned, only read
};

// unknown: the critic cannot judge this kind of step, because the suite cannot tell. invalid: the critic should have
// judged the step and did not; figures count it as neither correct nor incorrect.
enum class Judgement { correct, incorrect, invalid, unknown };
std::string_view to_string(Judgement judgement);

struct Verdict {
  Judgement judgement = Judgement::invalid;
  std::optional<double> probability;  // P(correct), in [0, 1], if the critic gives one
  std::string critique;               // the critic's text
  std::string fault;                  // reason, if the verdict is invalid
  bool cut = false;                   // whether it is invalid because the token limit came first
  std::int64_t tokens = 0;            // tokens written for this verdict, for the budget
};

// The verdict of a critic that gives only a probability: correct from 0.5 on. REQUIRES: in [0, 1].
Verdict verdict_from(double probability);

inline constexpr std::int64_t kNoTokenLimit = std::numeric_limits<std::int64_t>::max();

class StepCritic {
 public:
  virtual ~StepCritic() = default;
  // Returns one verdict per step, in the order of the steps. tokens: token limit per verdict; a verdict that needs more
  // is invalid. Throws Error if the critic cannot work (model, server); then there are no verdicts.
  virtual std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t tokens = kNoTokenLimit) = 0;
  virtual std::string name() const = 0;
};

}  // namespace agon::critic
