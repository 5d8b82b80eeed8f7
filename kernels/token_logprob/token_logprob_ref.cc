#include <cmath>
#include <vector>

#include "kernels/token_logprob/token_logprob.h"

namespace agon::kernels::reference {
namespace {

std::vector<double> scaled_logits(const TokenLogprobInput<double>& in, std::int64_t token) {
  std::vector<double> logits(static_cast<std::size_t>(in.vocabulary));
  for (std::int64_t v = 0; v < in.vocabulary; ++v) {
    double sum = 0;
    for (std::int64_t k = 0; k < in.width; ++k) sum += in.hidden[token * in.width + k] * in.head[v * in.width + k];
    logits[static_cast<std::size_t>(v)] = sum * in.inverse_temperature;
  }
  return logits;
}

double log_sum_exp(const std::vector<double>& values) {
  double largest = values[0], sum = 0;
  for (const double value : values) largest = std::max(largest, value);
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

// d loss / d logit for every entry of the vocabulary, the temperature included.
std::vector<double> logit_gradient(const TokenLogprobInput<double>& in, const TokenLogprobGradient<double>& gradient,
                                   std::int64_t token) {
  std::vector<double> slopes = scaled_logits(in, token);
  const double d_entropy = gradient.d_entropy ? gradient.d_entropy[token] : 0;
  for (std::int64_t v = 0; v < in.vocabulary; ++v) {
    double& slope = slopes[static_cast<std::size_t>(v)];
    const double log_p = slope - gradient.log_sum[token], p = std::exp(log_p), own = v == in.ids[token] ? 1 : 0;
    slope = (gradient.d_logprob[token] * (own - p) - d_entropy * p * (log_p + gradient.entropy[token])) *
            in.inverse_temperature;
  }
  return slopes;
}

}  // namespace

void token_logprob(const TokenLogprobInput<double>& in, const TokenLogprobOutput<double>& out) {
  for (std::int64_t token = 0; token < in.tokens; ++token) {
    const std::vector<double> logits = scaled_logits(in, token);
    const double log_sum = log_sum_exp(logits);
    out.log_sum[token] = log_sum;
    out.logprob[token] = logits[static_cast<std::size_t>(in.ids[token])] - log_sum;
    out.entropy[token] = 0;
    for (const double logit : logits) out.entropy[token] -= std::exp(logit - log_sum) * (logit - log_sum);
  }
}

void token_logprob_backward(const TokenLogprobInput<double>& in, const TokenLogprobGradient<double>& gradient) {
  const std::int64_t width = in.width;
  for (std::int64_t i = 0; gradient.d_hidden && i < in.tokens * width; ++i) gradient.d_hidden[i] = 0;
  for (std::int64_t i = 0; gradient.d_head && i < in.vocabulary * width; ++i) gradient.d_head[i] = 0;
  for (std::int64_t token = 0; token < in.tokens; ++token) {
    const std::vector<double> slopes = logit_gradient(in, gradient, token);
    for (std::int64_t v = 0; v < in.vocabulary; ++v)
      for (std::int64_t k = 0; k < width; ++k) {
        const double slope = slopes[static_cast<std::size_t>(v)];
        if (gradient.d_hidden) gradient.d_hidden[token * width + k] += slope * in.head[v * width + k];
        if (gradient.d_head) gradient.d_head[v * width + k] += slope * in.hidden[token * width + k];
      }
  }
}

}  // namespace agon::kernels::reference
