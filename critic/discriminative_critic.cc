#include "critic/discriminative_critic.h"

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "critic/critic_prompt.h"
#include "env/verdict.h"

namespace agon::critic {
namespace {

using env::StepVerdict;

class DiscriminativeCritic final : public StepCritic {
 public:
  DiscriminativeCritic(agents::Policy& policy, std::string instructions)
      : policy_(policy), instructions_(std::move(instructions)) {
    if (!policy.capabilities().score)
      throw Error("critic: policy {} gives no log-probabilities of a text. Use a generative critic, which needs none.",
                  policy.capabilities().name);
  }

  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t /*tokens*/) override {
    std::vector<agents::ScoreRequest> requests;
    for (const StepInContext& step : steps)
      for (const StepVerdict verdict : {StepVerdict::correct, StepVerdict::incorrect})
        requests.push_back({critic_messages(step, instructions_), {}, 1.0, env::tagged(verdict)});
    const std::vector<agents::TokenScores> scores = policy_.score(requests);
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < steps.size(); ++i)
      verdicts.push_back(verdict_of(scores.at(2 * i), scores.at(2 * i + 1)));
    return verdicts;
  }

  std::string name() const override { return policy_.capabilities().name; }

 private:
  static Verdict verdict_of(const agents::TokenScores& correct, const agents::TokenScores& incorrect) {
    if (correct.logprobs.empty() || incorrect.logprobs.empty())
      return {Judgement::invalid, {}, {}, "the prompt does not fit the policy's context"};
    const auto sum = [](const agents::TokenScores& scores) {
      return std::accumulate(scores.logprobs.begin(), scores.logprobs.end(), 0.0);
    };
    return verdict_from(1 / (1 + std::exp(sum(incorrect) - sum(correct))));
  }

  agents::Policy& policy_;
  const std::string instructions_;
};

}  // namespace

std::unique_ptr<StepCritic> make_discriminative_critic(agents::Policy& policy, std::string instructions) {
  return std::make_unique<DiscriminativeCritic>(policy, std::move(instructions));
}

}  // namespace agon::critic
