#include "cli/policy_needs.h"

#include "core/error.h"

namespace agon::cli {

void require_plays(const std::string& command, const agents::Capabilities& policy,
                   const agents::RolloutOptions& options) {
  if (!policy.images && env::shows_pictures(options.suite, options.split, options.seed))
    throw Error(
        "{}: the tasks of {} have pictures, and {} takes none. Choose a model that reads pictures, or a suite of "
        "text.",
        command, options.suite.name(), policy.name);
  if (!policy.videos && env::shows_videos(options.suite, options.split, options.seed))
    throw Error("{}: the tasks of {} have videos, and {} takes none. Choose a model folder that reads videos.", command,
                options.suite.name(), policy.name);
  if (!policy.samples && options.sampling.temperature > 0 && options.samples > 1)
    throw Error(
        "{}: the server of {} ignores the temperature, so all {} samples of a task would be the same. Let it "
        "sample (extra_body in the policy's YAML file), or give --samples 1 or --temperature 0.",
        command, policy.name, options.samples);
}

void require_searches(const agents::Capabilities& policy, const critic::SearchOptions& options) {
  using critic::Keep, critic::Retry, critic::Setting;
  const critic::MethodOptions& method = options.method;
  if (!policy.continues)
    throw Error(
        "search: a search writes step by step, and the server of {} cannot continue a turn that has begun. Use a "
        "server that can (vLLM, SGLang, llama.cpp, agon serve), name the model's folder as 'tokenizer' in the policy's "
        "YAML file, or play whole episodes with agon run.",
        policy.name);
  if (!policy.continues_pictures && options.suite && env::shows_pictures(*options.suite, options.split, options.seed))
    throw Error(
        "search: the tasks of {} have pictures, and {} continues a turn as a text alone (/v1/completions). Use a "
        "server that continues turns of chats, or a suite of text.",
        options.suite->name(), policy.name);
  const bool retries = looks_at(method.method, Setting::retry) && method.attempts > 1;
  if (retries && method.retry == Retry::anew && !policy.excludes)
    throw Error("search: {} cannot write a step anew without the one that was rejected. Give --retry independent.",
                policy.name);
  if (retries && method.keep == Keep::likeliest && !policy.logprobs)
    throw Error(
        "search: {} does not report log-probabilities, which --keep likeliest needs. Give --keep best or --keep "
        "last.",
        policy.name);
  if (options.budget.policy_tokens && !policy.counts_tokens)
    throw Error(
        "search: the server of {} does not count tokens, so a budget of policy_tokens cannot be kept. Give "
        "another budget, such as wall.",
        policy.name);
}

}  // namespace agon::cli
