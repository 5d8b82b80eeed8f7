// agents/engine/sampler.h - samples one token from a row of logits. Its only state is the caller's random stream.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "agents/engine/ranked_draw.h"
#include "agents/hub/model_config.h"
#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/policy.h"
#include "core/rng.h"

namespace agon::agents {

// The ids that may be sampled, ascending: all except special tokens other than the config's eos tokens (image_pad,
// im_start, ...) and ids without a token (a padded vocabulary). Throws Error if none is left.
std::vector<std::int32_t> sampleable_ids(const Tokenizer& tokenizer, const ModelConfig& config);

struct SampledToken {
  std::int32_t id = 0;
  float logprob = 0;  // under softmax(logits / T) over all ids, before top-k and top-p; T = 0: under greedy_logprobs_at
};
struct SamplerScratch {
  std::vector<float> weights;
  std::vector<std::pair<std::int32_t, double>> withheld;
  std::optional<Alternative> way_out;
  std::vector<std::int32_t> order;
  std::vector<Alternative> alternatives;
  RankedDrawScratch ranked;
  std::vector<float> changed;  // logits
};
// Computes the effect of sampling.excluded on the next token of a completion that began with `written`.
// scratch.withheld: for each excluded completion that continues `written`, its next id and the probability of its
// remaining tokens, including that id. The probability is 1 at T = 0, or if that id is the last one. An id may occur
// several times.
// scratch.way_out, only at T = 0: the most likely path that first follows an excluded completion and later branches off
// all of them at an alternative. It holds the path's next token and its log-probability up to and including the
// alternative.
void withhold(const Sampling& sampling, std::span<const std::int32_t> written, SamplerScratch& scratch);

// scratch.withheld is subtracted from the probabilities first. T = 0: the most likely allowed id (of equal ones the
// first), or that of scratch.way_out if it is more likely. Otherwise one draw among the allowed ids that top_k, then
// top_p, then min_p leave. Writes the sampling.alternatives most likely tokens to scratch.alternatives. Throws Error if
// the logits are not finite.
SampledToken sample_token(std::span<const float> logits, std::span<const std::int32_t> allowed,
                          const Sampling& sampling, Rng& rng, SamplerScratch& scratch);

// The log-probability of `id` over all ids. Writes the `alternatives` most likely of `allowed` to scratch.alternatives.
float token_logprob(std::span<const float> logits, std::span<const std::int32_t> allowed, std::int32_t id,
                    double temperature, int alternatives, SamplerScratch& scratch);

}  // namespace agon::agents
