// critic/critic.h - StepCritic: judges whether one step of a turn is right. Thread-safe: any thread may call, calls
// block, and batching happens inside. No torch here.
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

// A step where it stands.
struct StepInContext {
  std::vector<Message> messages;  // the transcript before the turn, pictures included, as the solver saw it
  std::string before;             // what the turn says before the step (steps parted by blank lines)
  std::string step;
  const env::Env* env = nullptr;  // of that turn, for critics that ask the suite; not owned, only read
};

// unknown: the critic has nothing to say of such a step (the suite cannot tell). invalid: it was to say and did not; no
// figure takes it for either verdict.
enum class Judgement { correct, incorrect, invalid, unknown };
std::string_view to_string(Judgement judgement);

struct Verdict {
  Judgement judgement = Judgement::invalid;
  std::optional<double> probability;  // P(correct), in [0, 1], where the critic gives one
  std::string critique;               // what it wrote
  std::string fault;                  // of an invalid verdict: what is wrong with what it wrote
  bool cut = false;                   // of an invalid verdict: the limit of tokens has ended before it was given
  std::int64_t tokens = 0;            // written for this verdict, for the budget
};

// Of a critic that gives no more than a probability: correct from 0.5 on. REQUIRES: in [0, 1].
Verdict verdict_from(double probability);

inline constexpr std::int64_t kNoTokenLimit = std::numeric_limits<std::int64_t>::max();

class StepCritic {
 public:
  virtual ~StepCritic() = default;
  // One verdict a step, in their order. tokens: most that is written for any of them; what does not fit is invalid.
  // Throws Error where the critic cannot work (a model, a server), and then no verdict was given.
  virtual std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t tokens = kNoTokenLimit) = 0;
  virtual std::string name() const = 0;
};

}  // namespace agon::critic
