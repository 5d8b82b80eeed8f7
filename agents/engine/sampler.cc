#include "agents/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "kernels/softmax/softmax.h"

namespace agon::agents {
namespace {

constexpr double kLowestTemperature = 1e-6;  // keeps 1 / T finite

float inverse_of(double temperature) {
  return temperature == 0 ? 1.0f : static_cast<float>(1.0 / std::max(temperature, kLowestTemperature));
}

kernels::SoftmaxSums weigh(std::span<const float> logits, float inverse_temperature, SamplerScratch& scratch) {
  scratch.weights.resize(logits.size());
  const kernels::SoftmaxSums sums =
      kernels::softmax_weights(logits.data(), std::ssize(logits), inverse_temperature, scratch.weights.data());
  if (!std::isfinite(sums.total) || !std::isfinite(sums.max))
    throw Error("policy: the model's logits are not finite (largest {}). Are its weights damaged?", sums.max);
  return sums;
}

float logprob_of(float logit, const kernels::SoftmaxSums& sums, float inverse_temperature) {
  return static_cast<float>(static_cast<double>((logit - sums.max) * inverse_temperature) - std::log(sums.total));
}

std::int32_t first_largest(std::span<const float> logits, std::span<const std::int32_t> allowed) {
  return *std::max_element(allowed.begin(), allowed.end(), [&](std::int32_t a, std::int32_t b) {
    return logits[static_cast<std::size_t>(a)] < logits[static_cast<std::size_t>(b)];
  });
}

bool likelier(std::span<const float> logits, std::int32_t a, std::int32_t b) {
  const float first = logits[static_cast<std::size_t>(a)], second = logits[static_cast<std::size_t>(b)];
  return first != second ? first > second : a < b;
}

// Draws one of the ids that top_k, top_p and min_p keep, by weight; of equally likely ids the first are kept. Returns
// -1 if all weights are 0.
std::int32_t draw_truncated(double uniform, std::span<const float> logits, std::span<const std::int32_t> allowed,
                            const Sampling& sampling, float max, float inverse_temperature, SamplerScratch& scratch) {
  RankedDraw ranked(logits, scratch.weights, allowed, max, inverse_temperature, scratch.ranked);
  if (sampling.top_k > 0) ranked.keep_first(sampling.top_k);
  if (sampling.top_p < 1.0) ranked.keep_mass(sampling.top_p);
  if (sampling.min_p > 0) ranked.keep_likely(sampling.min_p);
  return ranked.draw(uniform);
}

// Draws a candidate by weight. Returns -1 if all weights are 0.
std::int32_t draw(double uniform, std::span<const std::int32_t> candidates, std::span<const float> weights) {
  double mass = 0;
  for (const std::int32_t id : candidates) mass += static_cast<double>(weights[static_cast<std::size_t>(id)]);
  double left = uniform * mass;
  std::int32_t last = -1;
  for (const std::int32_t id : candidates) {
    const float weight = weights[static_cast<std::size_t>(id)];
    if (weight == 0) continue;
    last = id;
    left -= static_cast<double>(weight);
    if (left < 0) break;
  }
  return last;
}

void take_withheld(SamplerScratch& scratch, double total) {
  for (const auto& [id, share] : scratch.withheld) {
    float& weight = scratch.weights[static_cast<std::size_t>(id)];
    weight = share >= 1 ? 0 : std::max(0.0F, weight - static_cast<float>(share * total));
  }
}

// Returns -1 if all weights are 0.
std::int32_t likeliest_left(std::span<const std::int32_t> allowed, double total, const SamplerScratch& scratch) {
  const auto weight = [&](std::int32_t id) { return scratch.weights[static_cast<std::size_t>(id)]; };
  const std::int32_t first = *std::max_element(allowed.begin(), allowed.end(),
                                               [&](std::int32_t a, std::int32_t b) { return weight(a) < weight(b); });
  const std::optional<Alternative>& way_out = scratch.way_out;
  if (way_out && std::exp(static_cast<double>(way_out->logprob)) * total > static_cast<double>(weight(first)))
    return way_out->id;
  return weight(first) > 0 ? first : -1;
}

// Whether the beginning starts with `written` and is longer.
bool goes_on(const Beginning& beginning, std::span<const std::int32_t> written) {
  return beginning.token_ids.size() > written.size() &&
         std::equal(written.begin(), written.end(), beginning.token_ids.begin());
}

// The first alternative to the token at `place` that leads off all excluded beginnings.
const Alternative* free_alternative(const Beginning& beginning, std::size_t place,
                                    std::span<const Beginning> excluded) {
  const auto before = std::span(beginning.token_ids).first(place);
  const auto& alternatives = beginning.alternatives[place];
  const auto found = std::find_if(alternatives.begin(), alternatives.end(), [&](const Alternative& one) {
    return one.logprob >= kLeastAlternative && std::none_of(excluded.begin(), excluded.end(), [&](const auto& other) {
             return goes_on(other, before) && other.token_ids[place] == one.id;
           });
  });
  return found == alternatives.end() ? nullptr : &*found;
}

bool holds_one(std::span<const std::int32_t> ids, std::span<const Beginning> excluded) {
  return std::any_of(excluded.begin(), excluded.end(), [&](const Beginning& one) {
    return one.token_ids.size() <= ids.size() && std::equal(one.token_ids.begin(), one.token_ids.end(), ids.begin());
  });
}

// Sets `best` to the most likely way out of a beginning after its token at `at`, if that is more likely. There is no
// way out after the end of another excluded beginning.
void find_way_out(const Beginning& beginning, std::size_t at, std::span<const Beginning> excluded,
                  std::optional<Alternative>& best) {
  float logprob = 0;
  for (std::size_t place = at + 1; place < beginning.alternatives.size(); ++place) {
    if (holds_one(std::span(beginning.token_ids).first(place), excluded)) return;
    logprob += beginning.logprobs[place - 1];
    const Alternative* out = free_alternative(beginning, place, excluded);
    if (out && (!best || logprob + out->logprob > best->logprob))
      best = {beginning.token_ids[at], logprob + out->logprob};
  }
}

// Writes the `count` most likely tokens to scratch.alternatives, most likely first.
void tell_alternatives(std::span<const float> logits, std::span<const std::int32_t> allowed, std::size_t count,
                       const kernels::SoftmaxSums& sums, float inverse_temperature, SamplerScratch& scratch) {
  scratch.alternatives.clear();
  if (count == 0) return;
  scratch.order.resize(std::min(count, allowed.size()));
  std::partial_sort_copy(allowed.begin(), allowed.end(), scratch.order.begin(), scratch.order.end(),
                         [&](std::int32_t a, std::int32_t b) { return likelier(logits, a, b); });
  for (const std::int32_t id : scratch.order) {
    const float logprob = logprob_of(logits[static_cast<std::size_t>(id)], sums, inverse_temperature);
    scratch.alternatives.push_back({id, logprob});
  }
}

}  // namespace

void withhold(const Sampling& sampling, std::span<const std::int32_t> written, SamplerScratch& scratch) {
  const std::size_t at = written.size();
  scratch.withheld.clear();
  scratch.way_out.reset();
  for (const Beginning& beginning : sampling.excluded) {
    if (!goes_on(beginning, written)) continue;
    const bool all = sampling.temperature == 0 || beginning.token_ids.size() == at + 1;
    const double logprob =
        std::accumulate(beginning.logprobs.begin() + static_cast<std::ptrdiff_t>(at), beginning.logprobs.end(), 0.0);
    scratch.withheld.emplace_back(beginning.token_ids[at], all ? 1 : std::min(1.0, std::exp(logprob)));
    if (sampling.temperature == 0) find_way_out(beginning, at, sampling.excluded, scratch.way_out);
  }
}

std::vector<std::int32_t> sampleable_ids(const Tokenizer& tokenizer, const ModelConfig& config) {
  std::vector<std::int32_t> allowed;
  for (std::int32_t id = 0; id < config.text.vocab_size; ++id) {
    const bool eos = std::count(config.eos_token_ids.begin(), config.eos_token_ids.end(), id) > 0;
    const bool text = id < tokenizer.vocab_size() && !tokenizer.is_special(id) && !tokenizer.token_bytes(id).empty();
    if (eos || text) allowed.push_back(id);
  }
  if (allowed.empty())
    throw Error("policy: none of the {} ids of the vocabulary can be sampled. Is tokenizer.json of this model?",
                config.text.vocab_size);
  return allowed;
}

SampledToken sample_token(std::span<const float> logits, std::span<const std::int32_t> allowed,
                          const Sampling& sampling, Rng& rng, SamplerScratch& scratch) {
  const bool greedy = sampling.temperature == 0;
  const float inverse_temperature = inverse_of(greedy ? sampling.greedy_logprobs_at : sampling.temperature);
  const kernels::SoftmaxSums sums = weigh(logits, inverse_temperature, scratch);
  const auto alternatives = static_cast<std::size_t>(sampling.alternatives);
  tell_alternatives(logits, allowed, alternatives, sums, inverse_temperature, scratch);
  take_withheld(scratch, sums.total);
  std::int32_t id = -1;
  if (greedy) {
    if (!scratch.withheld.empty()) id = likeliest_left(allowed, sums.total, scratch);
  } else {
    const bool whole =
        (sampling.top_k == 0 || sampling.top_k >= std::ssize(allowed)) && sampling.top_p >= 1.0 && sampling.min_p <= 0;
    const double uniform = rng.uniform();
    id = whole ? draw(uniform, allowed, scratch.weights)
               : draw_truncated(uniform, logits, allowed, sampling, sums.max, inverse_temperature, scratch);
  }
  if (id < 0) id = first_largest(logits, allowed);  // also if all weights have underflowed to 0
  if (logits[static_cast<std::size_t>(id)] == -std::numeric_limits<float>::infinity())
    throw Error("policy: biases and bans leave no token that may be written here. Ban fewer.");
  return {id, logprob_of(logits[static_cast<std::size_t>(id)], sums, inverse_temperature)};
}

float token_logprob(std::span<const float> logits, std::span<const std::int32_t> allowed, std::int32_t id,
                    double temperature, int alternatives, SamplerScratch& scratch) {
  const float inverse_temperature = inverse_of(temperature);
  const kernels::SoftmaxSums sums = weigh(logits, inverse_temperature, scratch);
  tell_alternatives(logits, allowed, static_cast<std::size_t>(alternatives), sums, inverse_temperature, scratch);
  return logprob_of(logits[static_cast<std::size_t>(id)], sums, inverse_temperature);
}

}  // namespace agon::agents
