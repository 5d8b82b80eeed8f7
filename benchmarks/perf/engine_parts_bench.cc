// benchmarks/perf/engine_parts_bench.cc - what a real vocabulary and large groups cost the engine and the trainer in
// addition to the model itself: sampling a token from 151,936 logits, repeated prompts, RMSNorm's backward pass, and
// pictures that enter a full cache.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include <numeric>

#include "agents/engine/local_policy.h"
#include "agents/engine/prompt_cache.h"
#include "agents/engine/sampler.h"
#include "agents/learn/network/fused_ops.h"
#include "core/rng.h"

namespace {

using namespace agon;
using namespace agon::agents;
using benchmark::kMicrosecond;
using benchmark::kMillisecond;

constexpr std::size_t kVocabulary = 151'936;

// spread of the logits: 1e-4 makes them nearly equal, 1 is that of random weights, 8 gives a few likely tokens.
void sample(benchmark::State& state, double spread, Sampling sampling) {
  Rng rng(1);
  std::vector<float> logits(kVocabulary);
  for (float& logit : logits) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += rng.uniform();
    logit = static_cast<float>(spread * sum);  // almost normal
  }
  std::vector<std::int32_t> allowed(kVocabulary);
  std::iota(allowed.begin(), allowed.end(), 0);
  SamplerScratch scratch;
  for (auto _ : state) benchmark::DoNotOptimize(sample_token(logits, allowed, sampling, rng, scratch).id);
}
BENCHMARK_CAPTURE(sample, whole, 1.0, Sampling{})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_p_flat, 1e-4, Sampling{.top_p = 0.9})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_p_equal, 0.0, Sampling{.top_p = 0.9})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_p_random, 1.0, Sampling{.top_p = 0.9})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_p_peaked, 8.0, Sampling{.top_p = 0.9})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_k_random, 1.0, Sampling{.top_k = 50})->Unit(kMicrosecond);
BENCHMARK_CAPTURE(sample, top_k_top_p_random, 1.0, Sampling{.top_p = 0.9, .top_k = 5000})->Unit(kMicrosecond);

Image noise(int width, int height, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<std::uint8_t> rgb(static_cast<std::size_t>(width * height * 3));
  for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(rng.between(0, 255));
  return {width, height, std::move(rgb)};
}

// One call for a group of one-token answers to a prompt with two new pictures.
void group(benchmark::State& state) {
  const auto policy = make_local_policy(std::string(AGON_SOURCE_DIR) + "/models/agon-tiny", {.threads = 1});
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Message question{Role::user, {}, {}, {}};
    for (int i = 0; i < 2; ++i) question.parts.push_back(Part::of(noise(280, 280, ++seed)));
    question.parts.push_back(Part::of(std::string("What is new in the second picture?")));
    std::vector<CompletionRequest> requests(static_cast<std::size_t>(state.range(0)), {{question}, {}, 1, {}});
    for (CompletionRequest& request : requests) request.sampling.max_tokens = 1, request.sampling.seed = ++seed;
    state.ResumeTiming();
    benchmark::DoNotOptimize(policy->complete(requests).size());
  }
}
BENCHMARK(group)->Arg(1)->Arg(9)->Unit(kMillisecond)->UseRealTime();

// Rows of a training step of agon-tiny, and of a model with a hidden size of 2,048.
void rms_norm_backward(benchmark::State& state) {
  at::set_num_threads(static_cast<int>(state.range(2)));
  const at::Tensor x = at::randn({state.range(0), state.range(1)}).set_requires_grad(true);
  const at::Tensor weight = at::randn({state.range(1)}).set_requires_grad(true);
  const at::Tensor y = rms_norm(x, weight, 1e-6), upstream = at::randn({state.range(0), state.range(1)});
  for (auto _ : state)
    benchmark::DoNotOptimize(torch::autograd::grad({y}, {x, weight}, {upstream}, /*retain_graph=*/true).size());
}
BENCHMARK(rms_norm_backward)
    ->ArgsProduct({{4096}, {128, 2048}, {1, 2}})
    ->ArgNames({"rows", "width", "threads"})
    ->Unit(kMillisecond)
    ->UseRealTime();

// Adds a picture to a cache that is full of small ones.
void image_cache_add(benchmark::State& state) {
  const auto embeddings = std::make_shared<const std::vector<float>>(64);
  ImageCache cache(state.range(0) * 64 * static_cast<std::int64_t>(sizeof(float)));
  std::uint64_t name = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) cache.add({++name, 0}, embeddings);
  for (auto _ : state) cache.add({++name, 0}, embeddings);
}
BENCHMARK(image_cache_add)->Arg(100)->Arg(10'000)->Unit(kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
