#include "critic/plain_critics.h"

#include "core/error.h"
#include "core/rng.h"

namespace agon::critic {
namespace {

// A critic that looks at one step at a time.
class PlainCritic : public StepCritic {
 public:
  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t /*tokens*/) final {
    std::vector<Verdict> verdicts;
    verdicts.reserve(steps.size());
    for (const StepInContext& step : steps) verdicts.push_back(judge_one(step));
    return verdicts;
  }

 private:
  virtual Verdict judge_one(const StepInContext& step) const = 0;
};

class OracleCritic final : public PlainCritic {
 public:
  std::string name() const override { return "oracle"; }

 private:
  Verdict judge_one(const StepInContext& step) const override {
    const std::optional<env::StepLabel> label =
        step.env ? step.env->check_step({step.before, step.step}) : std::nullopt;
    if (!label) return {Judgement::unknown, std::nullopt, {}, {}, 0};
    Verdict verdict = verdict_from(label->correct ? 1 : 0);
    verdict.critique = label->reason;
    return verdict;
  }
};

class ConstantCritic final : public PlainCritic {
 public:
  explicit ConstantCritic(double probability) : probability_(probability) {}
  std::string name() const override { return fmt::format("constant={}", probability_); }

 private:
  Verdict judge_one(const StepInContext&) const override { return verdict_from(probability_); }
  const double probability_;
};

class RandomCritic final : public PlainCritic {
 public:
  explicit RandomCritic(std::uint64_t seed) : seed_(seed) {}
  std::string name() const override { return fmt::format("random={}", seed_); }

 private:
  Verdict judge_one(const StepInContext& step) const override {
    std::string place;
    for (const Message& message : step.messages)
      for (const Part& part : message.parts) place += part.content() + '\0';
    return verdict_from(Rng::derive(seed_, "random critic", place + step.before + '\0' + step.step).uniform());
  }
  const std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<StepCritic> make_oracle_critic() { return std::make_unique<OracleCritic>(); }

std::unique_ptr<StepCritic> make_constant_critic(double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw Error("critic constant: P(correct) must lie in [0, 1], got {}.", probability);
  return std::make_unique<ConstantCritic>(probability);
}

std::unique_ptr<StepCritic> make_random_critic(std::uint64_t seed) { return std::make_unique<RandomCritic>(seed); }

}  // namespace agon::critic
