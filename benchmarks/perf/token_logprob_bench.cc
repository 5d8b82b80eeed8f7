// kernels/token_logprob at the vocabulary of Qwen2.5: FLOP/s of its products (2 T H V forward; 6 T H V backward, which
// computes the logits again), on one thread. Each run first compares a small case with the reference.
//   token_logprob_bench [Google Benchmark's flags]
#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "kernels/token_logprob/token_logprob.h"

namespace {

using namespace agon::kernels;

template <typename Real>
struct Case {
  std::int64_t tokens, width, vocabulary;
  std::vector<Real> hidden, head, upstream, logprob, entropy, log_sum, d_hidden, d_head;
  std::vector<std::int64_t> ids;

  Case(std::int64_t t, std::int64_t h, std::int64_t v)
      : tokens(t), width(h), vocabulary(v), ids(static_cast<std::size_t>(t)) {
    for (auto* rows : {&upstream, &logprob, &entropy, &log_sum}) rows->resize(static_cast<std::size_t>(t), Real(0.5));
    for (auto* values : {&hidden, &d_hidden}) values->resize(static_cast<std::size_t>(t * h));
    for (auto* values : {&head, &d_head}) values->resize(static_cast<std::size_t>(v * h));
    std::uint32_t state = 1;
    const auto next = [&] { return Real((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24) - Real(0.5); };
    for (Real& value : hidden) value = next();
    for (Real& value : head) value = next();
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i) * 7919 % v;
  }
  TokenLogprobInput<Real> input() const {
    return {hidden.data(), head.data(), ids.data(), tokens, width, vocabulary, 1};
  }
  TokenLogprobOutput<Real> output() { return {logprob.data(), entropy.data(), log_sum.data()}; }
  TokenLogprobGradient<Real> gradient() {
    return {log_sum.data(), entropy.data(), upstream.data(), upstream.data(), d_hidden.data(), d_head.data()};
  }
};

bool close(const std::vector<float>& actual, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected[i]) <= 1e-5 + 1e-5 * std::abs(expected[i]))) return false;
  return true;
}

bool equals_reference() {
  Case<float> ours(70, 33, 1000);
  Case<double> plain(70, 33, 1000);
  plain.hidden.assign(ours.hidden.begin(), ours.hidden.end());
  plain.head.assign(ours.head.begin(), ours.head.end());
  token_logprob(ours.input(), ours.output());
  token_logprob_backward(ours.input(), ours.gradient());
  reference::token_logprob(plain.input(), plain.output());
  reference::token_logprob_backward(plain.input(), plain.gradient());
  return close(ours.logprob, plain.logprob) && close(ours.entropy, plain.entropy) &&
         close(ours.d_hidden, plain.d_hidden) && close(ours.d_head, plain.d_head);
}

void forward_backward(benchmark::State& state) {
  if (!equals_reference()) return state.SkipWithError("differs from the reference");
  Case<float> work(state.range(0), state.range(1), 151936);
  const bool backward = state.range(2) != 0;
  for (auto _ : state) {
    token_logprob(work.input(), work.output());
    if (backward) token_logprob_backward(work.input(), work.gradient());
    benchmark::ClobberMemory();
  }
  const auto products = static_cast<double>(work.tokens * work.width * work.vocabulary);
  state.counters["FLOP/s"] =
      benchmark::Counter((backward ? 8 : 2) * products, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(forward_backward)
    ->ArgNames({"tokens", "width", "backward"})
    ->ArgsProduct({{64, 512}, {896}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
