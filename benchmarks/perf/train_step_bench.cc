// benchmarks/perf/train_step_bench.cc - one training step of models/agon-tiny's architecture: 48 rows of one picture
// (64 patches) and 60 tokens each; forward, backward and AdamW, in fp32 on the given number of threads: alone, together
// with a busy loop on every processor, and on a GPU if there is one. Set OMP_WAIT_POLICY and GOMP_SPINCOUNT to measure
// other ways of waiting.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/cuda.h>
#include <torch/optim/adamw.h>

#include <atomic>
#include <thread>
#include <vector>

#include "agents/learn/network/transformer_network.h"
#include "benchmarks/perf/bench_models.h"

namespace {

using agon::agents::ImageGrid;
using agon::agents::tiny_model;
using at::Tensor;

constexpr int kRows = 48, kLength = 60;

// Keeps every processor busy while it lives.
class BusyLoops {
 public:
  BusyLoops() {
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      loops_.emplace_back([this] {
        while (!over_) ++turns_;
      });
  }
  ~BusyLoops() { over_ = true; }

 private:
  std::atomic<bool> over_{false};
  std::atomic<std::int64_t> turns_{0};
  std::vector<std::jthread> loops_;
};

void train_steps(benchmark::State& state, at::Device device = at::kCPU) {
  const std::int64_t image_token = tiny_model().image_token_id;
  at::set_num_threads(static_cast<int>(state.range(0)));
  at::manual_seed(1);
  agon::agents::TransformerNetwork model(tiny_model());
  model.to(device);
  torch::optim::AdamW optimizer(model.parameters(), torch::optim::AdamWOptions(1e-3));
  const std::vector<ImageGrid> grids(kRows, ImageGrid{1, 8, 8});
  const std::vector<std::int64_t> lengths(kRows, kLength);
  const Tensor patches = at::randn({kRows * 64, 1176}, device);
  Tensor ids = at::randint(0, image_token, {kRows, kLength}, at::TensorOptions(at::kLong).device(device));
  ids.narrow(1, 2, 16).fill_(image_token);
  const Tensor positions = at::arange(kLength, device).expand({3, kRows, kLength});
  const Tensor targets = ids.narrow(1, 18, 42).flatten();
  for (auto _ : state) {
    optimizer.zero_grad();
    const Tensor hidden = model.hidden_states(ids, positions, model.encode_images(patches, grids), lengths);
    at::cross_entropy_loss(model.logits(hidden.narrow(1, 17, 42)).flatten(0, 1), targets).backward();
    optimizer.step();
    if (device.is_cuda()) torch::cuda::synchronize();
  }
  state.SetItemsProcessed(state.iterations() * kRows);  // rows per second
}

void train_step(benchmark::State& state) { train_steps(state); }
void train_step_on_gpu(benchmark::State& state) {
  if (!torch::cuda::is_available()) return state.SkipWithError("no GPU, or built without CUDA");
  train_steps(state, at::kCUDA);
}
void train_step_beside_load(benchmark::State& state) {
  const BusyLoops load;
  train_steps(state);
}
BENCHMARK(train_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(train_step_beside_load)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(train_step_on_gpu)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
