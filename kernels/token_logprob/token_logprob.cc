#include "kernels/token_logprob/token_logprob.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/multiversion.h"
#include "kernels/panel_product.h"

// Tokens are in the lanes: a tile of logits is [rows of the head, 32 tokens]. Rows of the head are read in memory
// order, and sums over the vocabulary run down the tile, without a sum over lanes.
namespace agon::kernels {
namespace {

using Input = TokenLogprobInput<float>;

constexpr std::int64_t kChunk = 512;          // maximum tokens at a time: the head is read once per chunk
constexpr std::int64_t kStrip = 256;          // rows of the head in a forward tile
constexpr std::int64_t kBlock = 512;          // rows of the head between two sums into d_hidden
constexpr std::int64_t kGroup = 8;            // minimum number of rows of the head per thread
constexpr std::int64_t kTokensPerTask = 256;  // tokens of one sum into d_hidden
constexpr std::int64_t kPad = kLanes;         // keeps rows of a tile off each other's cache lines

std::int64_t pieces(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
std::size_t room(std::int64_t count) { return static_cast<std::size_t>(count); }

// Equal chunks of whole panels.
std::int64_t chunk_size(std::int64_t tokens) {
  return pieces(pieces(tokens, std::max<std::int64_t>(1, pieces(tokens, kChunk))), kPanel) * kPanel;
}

AGON_MULTIVERSION void product(const PanelProduct& at, std::int64_t begin, std::int64_t end) {
  panel_product(at, begin, end);
}

// to[p][k][n] = rows[32 p + n][k]; 0 past the last row.
void pack_transposed(const float* rows, std::int64_t count, std::int64_t width, float* to,
                     const ParallelFor& parallel) {
  run_parallel(parallel, pieces(count, kPanel), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      for (std::int64_t k = 0; k < width; ++k)
        for (std::int64_t n = p * kPanel; n < (p + 1) * kPanel; ++n)
          to[(p * width + k) * kPanel + n % kPanel] = n < count ? rows[n * width + k] : 0;
  });
}

// to[p][r][n] = rows[r][32 p + n]; 0 past the last column.
void pack_columns(const float* rows, std::int64_t count, std::int64_t width, float* to, const ParallelFor& parallel) {
  run_parallel(parallel, pieces(width, kPanel), [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t columns = std::min<std::int64_t>(kPanel, width - p * kPanel);
      for (std::int64_t r = 0; r < count; ++r) {
        float* line = to + (p * count + r) * kPanel;
        std::fill(std::copy_n(rows + r * width + p * kPanel, columns, line), line + kPanel, 0.0f);
      }
    }
  });
}

// Sums over some rows of the head for the 32 tokens of a panel; z: logits divided by the temperature.
struct StripSums {
  float max[kPanel];       // m, the largest z
  float total[kPanel];     // sum of e^(z - m)
  float weighted[kPanel];  // sum of (z - m) e^(z - m)
};

AGON_MULTIVERSION void sum_strip(const float* tile, std::int64_t rows, float inverse_temperature, StripSums& sums) {
  for (int first = 0; first < kPanel; first += kLanes) {
    float max[kLanes], total[kLanes] = {}, weighted[kLanes] = {};
    std::fill_n(max, kLanes, -std::numeric_limits<float>::infinity());
    const float* logits = tile + first;
    for (std::int64_t r = 0; r < rows; ++r)
      for (int lane = 0; lane < kLanes; ++lane) max[lane] = larger(logits[r * kPanel + lane], max[lane]);
    for (std::int64_t r = 0; r < rows; ++r)
      for (int lane = 0; lane < kLanes; ++lane) {
        const float below = (logits[r * kPanel + lane] - max[lane]) * inverse_temperature, weight = exp(below);
        total[lane] += weight;
        weighted[lane] += below * weight;
      }
    for (int lane = 0; lane < kLanes; ++lane) {
      sums.max[first + lane] = max[lane] * inverse_temperature;
      sums.total[first + lane] = total[lane];
      sums.weighted[first + lane] = weighted[lane];
    }
  }
}

// Rows [begin, end) of slopes hold the logits of the 32 tokens of a panel. Replaces them by the loss's gradient of
// those logits, except for the term of the tokens' own ids. The four rows of `tokens` are `stride` apart: d_logprob and
// d_entropy divided by the temperature, log_sum, entropy.
AGON_MULTIVERSION void logits_to_slopes(float* slopes, std::int64_t slopes_stride, std::int64_t begin, std::int64_t end,
                                        const float* tokens, std::int64_t stride, float inverse_temperature) {
  const float *d_logprob = tokens, *d_entropy = tokens + stride;
  const float *log_sum = tokens + 2 * stride, *entropy = tokens + 3 * stride;
  for (std::int64_t r = begin; r < end; ++r) {
    float* at = slopes + r * slopes_stride;
    for (int i = 0; i < kPanel; ++i) {
      const float log_p = at[i] * inverse_temperature - log_sum[i];
      at[i] = -exp(log_p) * (d_logprob[i] + d_entropy[i] * (log_p + entropy[i]));
    }
  }
}

class Forward {
 public:
  Forward(const Input& in, const TokenLogprobOutput<float>& out, const ParallelFor& parallel)
      : in_(in), out_(out), parallel_(parallel), strips_(pieces(in.vocabulary, kStrip)) {
    const std::int64_t chunk = chunk_size(in.tokens);
    hidden_.require(room(chunk * in.width));
    sums_.resize(room(strips_ * chunk / kPanel));
    own_logits_.resize(room(chunk));
  }

  void run() {
    const std::int64_t chunk = chunk_size(in_.tokens);
    for (std::int64_t first = 0; first < in_.tokens; first += chunk) run(first, std::min(chunk, in_.tokens - first));
  }

 private:
  void run(std::int64_t first, std::int64_t tokens) {
    const std::int64_t panels = pieces(tokens, kPanel);
    pack_transposed(in_.hidden + first * in_.width, tokens, in_.width, hidden_.data(), parallel_);
    run_parallel(parallel_, strips_ * panels, [&](std::int64_t begin, std::int64_t end) {
      AlignedFloats tile(kStrip * kPanel);
      for (std::int64_t i = begin; i < end; ++i) sum_tile(i / panels, i % panels, first, tokens, tile.data());
    });
    run_parallel(parallel_, tokens, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t token = begin; token < end; ++token) join_strips(first, token, panels);
    });
  }

  void sum_tile(std::int64_t strip, std::int64_t panel, std::int64_t first, std::int64_t tokens, float* tile) {
    const std::int64_t from = strip * kStrip, rows = std::min(kStrip, in_.vocabulary - from);
    product({.x = in_.head + from * in_.width,
             .x_stride = in_.width,
             .panel = hidden_.data() + panel * in_.width * kPanel,
             .y = tile,
             .y_stride = kPanel,
             .depth = in_.width},
            0, rows);
    sum_strip(tile, rows, in_.inverse_temperature, sums_[room(strip * pieces(tokens, kPanel) + panel)]);
    for (std::int64_t t = panel * kPanel; t < std::min(tokens, (panel + 1) * kPanel); ++t) {
      const std::int64_t row = in_.ids[first + t] - from;
      if (row >= 0 && row < rows) own_logits_[room(t)] = tile[row * kPanel + t % kPanel];
    }
  }

  void join_strips(std::int64_t first, std::int64_t token, std::int64_t panels) {
    const StripSums* sums = sums_.data() + token / kPanel;
    const std::int64_t lane = token % kPanel;
    double max = -std::numeric_limits<double>::infinity(), total = 0, weighted = 0;
    for (std::int64_t s = 0; s < strips_; ++s) max = std::max<double>(max, sums[s * panels].max[lane]);
    for (std::int64_t s = 0; s < strips_; ++s) {
      const StripSums& strip = sums[s * panels];
      const double below = strip.max[lane] - max, share = std::exp(below);
      total += share * strip.total[lane];
      weighted += share * (strip.weighted[lane] + below * strip.total[lane]);
    }
    const double log_sum = max + std::log(total), entropy = std::log(total) - weighted / total;
    const double own = static_cast<double>(own_logits_[room(token)]) * in_.inverse_temperature;
    out_.logprob[first + token] = static_cast<float>(own - log_sum);
    out_.entropy[first + token] = static_cast<float>(entropy < 0 ? 0 : entropy);  // rounding; a NaN stays
    out_.log_sum[first + token] = static_cast<float>(log_sum);
  }

  const Input& in_;
  const TokenLogprobOutput<float>& out_;
  const ParallelFor& parallel_;
  const std::int64_t strips_;
  AlignedFloats hidden_;         // panels of 32 tokens, each [H, 32]
  std::vector<StripSums> sums_;  // [strips, panels]
  std::vector<float> own_logits_;
};

class Backward {
 public:
  Backward(const Input& in, const TokenLogprobGradient<float>& gradient, const ParallelFor& parallel)
      : in_(in), gradient_(gradient), parallel_(parallel), width_panels_(pieces(in.width, kPanel)) {
    const std::int64_t chunk = chunk_size(in.tokens), width = width_panels_ * kPanel;
    by_token_.require(room(chunk * in.width));
    if (gradient.d_head) by_width_.require(room(chunk * width));
    if (gradient.d_hidden) head_.require(room(kBlock * width));
    slopes_.require(room(kBlock * (chunk + kPad)));
    coefficients_.require(room(4 * chunk));
  }

  void run() {
    if (in_.tokens == 0 && gradient_.d_head) std::fill_n(gradient_.d_head, in_.vocabulary * in_.width, 0.0f);
    const std::int64_t chunk = chunk_size(in_.tokens);
    for (std::int64_t first = 0; first < in_.tokens; first += chunk) run(first, std::min(chunk, in_.tokens - first));
  }

 private:
  void run(std::int64_t first, std::int64_t tokens) {
    first_ = first;
    tokens_ = tokens;
    panels_ = pieces(tokens, kPanel);
    stride_ = panels_ * kPanel + kPad;
    const float* hidden = in_.hidden + first * in_.width;
    pack_transposed(hidden, tokens, in_.width, by_token_.data(), parallel_);
    if (gradient_.d_head) pack_columns(hidden, tokens, in_.width, by_width_.data(), parallel_);
    take_coefficients();
    for (std::int64_t from = 0; from < in_.vocabulary; from += kBlock)
      run_block(from, std::min(kBlock, in_.vocabulary - from));
  }

  void take_coefficients() {  // 0 for the padding of the last panel, and so are its slopes
    float* to = coefficients_.data();
    const std::int64_t stride = panels_ * kPanel;
    std::fill_n(to, 4 * stride, 0.0f);
    for (std::int64_t t = 0; t < tokens_; ++t) {
      to[t] = gradient_.d_logprob[first_ + t] * in_.inverse_temperature;
      to[stride + t] = gradient_.d_entropy ? gradient_.d_entropy[first_ + t] * in_.inverse_temperature : 0;
      to[2 * stride + t] = gradient_.log_sum[first_ + t];
      to[3 * stride + t] = gradient_.entropy[first_ + t];
    }
  }

  void run_block(std::int64_t from, std::int64_t rows) {
    const float* head = in_.head + from * in_.width;
    run_parallel(parallel_, pieces(rows, kGroup), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t panel = 0; panel < panels_; ++panel)
        slopes_of(from, panel, begin * kGroup, std::min(rows, end * kGroup));
      if (gradient_.d_head) sum_head(from, begin * kGroup, std::min(rows, end * kGroup));
    });
    if (!gradient_.d_hidden) return;
    pack_columns(head, rows, in_.width, head_.data(), parallel_);
    const std::int64_t tasks = pieces(tokens_, kTokensPerTask);
    run_parallel(parallel_, width_panels_ * tasks, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) sum_hidden(from, rows, i / tasks, i % tasks * kTokensPerTask);
    });
  }

  // Computes the slopes of rows [begin, end) of the block that begins at row `from` of the head, for the tokens of a
  // panel.
  void slopes_of(std::int64_t from, std::int64_t panel, std::int64_t begin, std::int64_t end) {
    float* slopes = slopes_.data() + panel * kPanel;
    product({.x = in_.head + from * in_.width,
             .x_stride = in_.width,
             .panel = by_token_.data() + panel * in_.width * kPanel,
             .y = slopes,
             .y_stride = stride_,
             .depth = in_.width},
            begin, end);
    const float* coefficients = coefficients_.data() + panel * kPanel;
    logits_to_slopes(slopes, stride_, begin, end, coefficients, panels_ * kPanel, in_.inverse_temperature);
    for (std::int64_t t = panel * kPanel; t < std::min(tokens_, (panel + 1) * kPanel); ++t) {
      const std::int64_t row = in_.ids[first_ + t] - from;
      if (row >= begin && row < end) slopes_.data()[row * stride_ + t] += coefficients_.data()[t];
    }
  }

  // d_head += slopes hidden, rows [begin, end) of the block.
  void sum_head(std::int64_t from, std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = 0; panel < width_panels_; ++panel)
      product({.x = slopes_.data(),
               .x_stride = stride_,
               .panel = by_width_.data() + panel * tokens_ * kPanel,
               .y = gradient_.d_head + from * in_.width + panel * kPanel,
               .y_stride = in_.width,
               .depth = tokens_,
               .columns = columns_of(panel),
               .add = first_ > 0},
              begin, end);
  }

  // d_hidden += slopes^T head over the block's rows, for some tokens and 32 columns.
  void sum_hidden(std::int64_t from, std::int64_t rows, std::int64_t panel, std::int64_t token) {
    product({.x = slopes_.data(),
             .x_stride = 1,
             .x_step = stride_,
             .panel = head_.data() + panel * rows * kPanel,
             .y = gradient_.d_hidden + first_ * in_.width + panel * kPanel,
             .y_stride = in_.width,
             .depth = rows,
             .columns = columns_of(panel),
             .add = from > 0},
            token, std::min(tokens_, token + kTokensPerTask));
  }

  int columns_of(std::int64_t panel) const {
    return static_cast<int>(std::min<std::int64_t>(kPanel, in_.width - panel * kPanel));
  }

  const Input& in_;
  const TokenLogprobGradient<float>& gradient_;
  const ParallelFor& parallel_;
  const std::int64_t width_panels_;
  std::int64_t first_ = 0, tokens_ = 0, panels_ = 0, stride_ = 0;  // of the current chunk
  AlignedFloats by_token_;      // the chunk's hidden states: panels of 32 tokens, each [H, 32]
  AlignedFloats by_width_;      // and panels of 32 columns, each [T, 32]
  AlignedFloats head_;          // a block of the head: panels of 32 columns, each [rows, 32]
  AlignedFloats slopes_;        // [rows, stride_]: the loss's gradient of the block's logits
  AlignedFloats coefficients_;  // [4, padded tokens], see logits_to_slopes
};

}  // namespace

void token_logprob(const Input& input, const TokenLogprobOutput<float>& output, const ParallelFor& parallel) {
  Forward(input, output, parallel).run();
}

void token_logprob_backward(const Input& input, const TokenLogprobGradient<float>& gradient,
                            const ParallelFor& parallel) {
  Backward(input, gradient, parallel).run();
}

}  // namespace agon::kernels
