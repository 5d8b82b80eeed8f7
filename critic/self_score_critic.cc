#include "critic/self_score_critic.h"

#include <algorithm>

#include "env/protocol.h"

namespace agon::critic {
namespace {

// The turn up to the end of the step. It ends with a blank line, unless the step holds the answer.
std::string turn_so_far(const StepInContext& step) {
  const std::string steps = (step.before.empty() ? "" : step.before + "\n\n") + step.step;
  return step.step.find("</answer>") == std::string::npos ? steps + "\n\n" : steps;
}

class SelfScoreCritic final : public StepCritic {
 public:
  SelfScoreCritic(agents::Policy& policy, const SelfScoreCriticOptions& options) : policy_(policy), options_(options) {}

  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t tokens) override {
    std::vector<agents::CompletionRequest> requests;
    for (const StepInContext& step : steps) requests.push_back(request_for(step, tokens));
    const std::vector<agents::Completion> completions = policy_.complete(requests);
    agents::require_complete(completions);
    std::vector<Verdict> verdicts;
    for (std::size_t i = 0; i < steps.size(); ++i) verdicts.push_back(verdict_of(requests[i], completions.at(i)));
    return verdicts;
  }

  std::string name() const override { return policy_.capabilities().name; }

 private:
  agents::CompletionRequest request_for(const StepInContext& step, std::int64_t tokens) const {
    agents::CompletionRequest request{step.messages, turn_so_far(step), 1, {}};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = static_cast<int>(std::min<std::int64_t>(options_.max_tokens, tokens));
    return request;
  }

  Verdict verdict_of(const agents::CompletionRequest& request, const agents::Completion& completion) const {
    const auto score = env::extract_score(request.prefix + completion.text);
    Verdict verdict = score ? verdict_from(*score) : Verdict{};
    if (!score) {
      verdict.fault = "the turn ends without a valid <score>";
      verdict.cut =
          completion.finish_reason == agents::FinishReason::length && request.sampling.max_tokens < options_.max_tokens;
    }
    verdict.critique = completion.text;
    verdict.tokens = completion.tokens();
    return verdict;
  }

  agents::Policy& policy_;
  const SelfScoreCriticOptions options_;
};

}  // namespace

std::unique_ptr<StepCritic> make_self_score_critic(agents::Policy& policy, const SelfScoreCriticOptions& options) {
  return std::make_unique<SelfScoreCritic>(policy, options);
}

}  // namespace agon::critic
