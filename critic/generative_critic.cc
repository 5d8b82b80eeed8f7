#include "critic/generative_critic.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "critic/critic_prompt.h"
#include "env/verdict.h"
#include "env/wrappers/critic_role.h"

namespace agon::critic {
namespace {

using env::StepVerdict;

std::string key_of(const StepInContext& step) {
  std::string key;
  for (const Part& part : env::critic_request(step.messages, step.before, step.step)) key += part.content();
  return key;
}

// The probability of the tokens that spell `span`: all tokens that overlap it.
double probability_of(const agents::Completion& completion, env::Span span) {
  double logprob = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < completion.token_ends.size() && i < completion.logprobs.size(); ++i) {
    const std::size_t end = completion.token_ends[i];
    if (begin < span.end && end > span.begin) logprob += static_cast<double>(completion.logprobs[i]);
    begin = end;
  }
  return std::exp(std::min(0.0, logprob));
}

Verdict combined(std::span<const Verdict> critiques, Combine combine) {
  if (critiques.size() == 1) return critiques.front();
  Verdict all;
  double valid = 0, correct = 0, sum = 0;
  for (const Verdict& one : critiques) {
    all.cut = all.cut || one.cut;
    all.critique += (all.critique.empty() ? "" : "\n\n") + one.critique;
    all.tokens += one.tokens;
    if (one.judgement == Judgement::invalid) continue;
    ++valid;
    correct += one.judgement == Judgement::correct;
    sum += *one.probability;
  }
  all.cut = all.cut && valid == 0;
  if (valid == 0) {
    all.fault = fmt::format("none of {} critiques has a verdict; the first: {}", critiques.size(), critiques[0].fault);
    return all;
  }
  const bool tie = correct * 2 == valid;
  all.probability = combine == Combine::mean ? sum / valid : correct / valid;
  const bool right = combine == Combine::mean || !tie ? *all.probability >= 0.5 : sum / valid > 0.5;
  all.judgement = right ? Judgement::correct : Judgement::incorrect;
  return all;
}

void check(const GenerativeCriticOptions& options) {
  if (options.critiques < 1) throw Error("critic: critiques must be at least 1, got {}.", options.critiques);
  if (options.critiques > 1 && options.temperature <= 0)
    throw Error("critic: {} critiques at temperature {} are all the same. Give a temperature above 0.",
                options.critiques, options.temperature);
}

agents::CompletionRequest request_for(const StepInContext& step, const GenerativeCriticOptions& options,
                                      std::int64_t tokens) {
  agents::CompletionRequest request;
  request.messages = critic_messages(step, options.instructions);
  request.n = options.critiques;
  request.sampling.temperature = options.temperature;
  request.sampling.max_tokens =
      static_cast<int>(std::min<std::int64_t>(options.max_tokens, tokens / options.critiques));
  request.sampling.seed = Rng::derive(options.seed, "critique", key_of(step))();
  request.sampling.stop = {"</Answer>"};
  request.sampling.logprobs = true;
  return request;
}

class GenerativeCritic final : public StepCritic {
 public:
  GenerativeCritic(agents::Policy& policy, const GenerativeCriticOptions& options)
      : policy_(policy), options_(options) {
    check(options_);
  }

  std::vector<Verdict> judge(std::span<const StepInContext> steps, std::int64_t tokens) override {
    std::vector<Verdict> verdicts;
    for (const std::vector<Verdict>& critiques : write_critiques(policy_, options_, steps, tokens))
      verdicts.push_back(combined(critiques, options_.combine));
    return verdicts;
  }

  std::string name() const override { return policy_.capabilities().name; }

 private:
  agents::Policy& policy_;
  GenerativeCriticOptions options_;
};

}  // namespace

Verdict verdict_of(const agents::Completion& completion) {
  Verdict verdict;
  verdict.critique = completion.text;
  verdict.tokens = completion.tokens();
  const env::ParsedVerdict parsed = env::parse_verdict(completion.text);
  verdict.fault = parsed.fault;
  if (parsed.verdict == StepVerdict::invalid) return verdict;
  const double said = probability_of(completion, parsed.word);
  const bool correct = parsed.verdict == StepVerdict::correct;
  verdict.judgement = correct ? Judgement::correct : Judgement::incorrect;
  verdict.probability = correct ? said : 1 - said;
  return verdict;
}

Combine parse_combine(const std::string& name) {
  if (name == "vote") return Combine::vote;
  if (name == "mean") return Combine::mean;
  throw Error("critic: {}", unknown_name_message("way to combine critiques", name, {"mean", "vote"}));
}

std::vector<std::vector<Verdict>> write_critiques(agents::Policy& policy, const GenerativeCriticOptions& options,
                                                  std::span<const StepInContext> steps, std::int64_t tokens) {
  check(options);
  const auto each = static_cast<std::size_t>(options.critiques);
  if (tokens < options.critiques)
    return {steps.size(),
            std::vector<Verdict>(each, Verdict{.fault = "no tokens are left for a critique", .cut = true})};
  std::vector<agents::CompletionRequest> requests;
  for (const StepInContext& step : steps) requests.push_back(request_for(step, options, tokens));
  const std::vector<agents::Completion> completions = policy.complete(requests);
  agents::require_complete(completions);
  std::vector<std::vector<Verdict>> all;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<Verdict>& critiques = all.emplace_back();
    for (std::size_t j = 0; j < each; ++j) {
      const agents::Completion& completion = completions.at(i * each + j);
      Verdict& verdict = critiques.emplace_back(verdict_of(completion));
      verdict.cut = verdict.judgement == Judgement::invalid &&
                    completion.finish_reason == agents::FinishReason::length &&
                    requests[i].sampling.max_tokens < options.max_tokens;
    }
  }
  return all;
}

std::unique_ptr<StepCritic> make_generative_critic(agents::Policy& policy, const GenerativeCriticOptions& options) {
  return std::make_unique<GenerativeCritic>(policy, options);
}

}  // namespace agon::critic
