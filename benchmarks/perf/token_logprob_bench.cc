// token_logprob_bench TOKENS WIDTH [VOCABULARY, 151936] [threads, 2] [runs, 3] [grad|value, grad]
// [cpu|cuda, cpu] - log-probabilities of tokens and their entropies from hidden states and an LM head, forward and
// backward in fp32; the entropy with its gradient or without. First a small case is compared with log_softmax. One JSON
// object:
//   seconds, cpu_seconds  medians over the runs: wall time, and CPU time of all threads
//   gflops                of the products (8 T H V: the backward pass computes the logits again), by wall time
//   extra_mib             largest memory of the first run beyond what it began with and the gradients that it returns;
//                         null on a GPU
// benchmarks/peers/trl_token_logprob.py prints the same.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "agents/learn/network/token_logprob.h"
#include "core/error.h"

namespace {

using agon::Error;
using agon::agents::TokenLogprobs;
using at::Tensor;

struct Work {
  Tensor hidden, head, ids, d_logprob, d_entropy;
  Work(std::int64_t tokens, std::int64_t width, std::int64_t vocabulary, at::Device device)
      : hidden(at::randn({tokens, width}, device).set_requires_grad(true)),
        head(
            at::randn({vocabulary, width}, device).div_(std::sqrt(static_cast<double>(width))).set_requires_grad(true)),
        ids(at::randint(vocabulary, {tokens}, at::TensorOptions(at::kLong).device(device))),
        d_logprob(at::randn({tokens}, device)),
        d_entropy(at::randn({tokens}, device).mul_(0.01)) {}

  std::vector<Tensor> gradients(const TokenLogprobs& of, bool of_entropy) const {
    if (of_entropy) return torch::autograd::grad({of.logprob, of.entropy}, {hidden, head}, {d_logprob, d_entropy});
    return torch::autograd::grad({of.logprob}, {hidden, head}, {d_logprob});
  }
};

void check(at::Device device) {
  const Work work(40, 30, 1000, device);
  const Tensor logprobs = at::log_softmax(at::mm(work.hidden, work.head.t()), -1);
  const TokenLogprobs plain{logprobs.gather(1, work.ids.unsqueeze(1)).squeeze(1), -(logprobs.exp() * logprobs).sum(1)};
  const auto ours = work.gradients(agon::agents::token_logprobs(work.hidden, work.head, work.ids), true);
  const auto theirs = work.gradients(plain, true);
  if (!at::allclose(ours[0], theirs[0], 1e-4, 1e-5) || !at::allclose(ours[1], theirs[1], 1e-4, 1e-5))
    throw Error("the gradients differ from log_softmax's");
}

// A value of /proc/self/status, in KiB.
double memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stod(line.substr(name.size() + 1));
  throw Error("/proc/self/status has no {}", name);
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void step(const Work& work, bool of_entropy) {
  work.gradients(agon::agents::token_logprobs(work.hidden, work.head, work.ids), of_entropy);
  if (work.hidden.is_cuda()) torch::cuda::synchronize();
}

double extra_mib(const Work& work, bool of_entropy) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak memory
  const double before = memory("VmRSS");
  step(work, of_entropy);
  const auto returned = static_cast<double>((work.hidden.numel() + work.head.numel()) * 4);
  return (memory("VmHWM") - before) / 1024 - returned / (1 << 20);
}

void run(std::int64_t tokens, std::int64_t width, std::int64_t vocabulary, int threads, int runs, bool of_entropy,
         at::Device device) {
  at::set_num_threads(threads);
  at::manual_seed(1);
  check(device);
  const Work work(tokens, width, vocabulary, device);
  const std::string extra = device.is_cuda() ? "null" : fmt::format("{:.1f}", extra_mib(work, of_entropy));
  step(work, of_entropy);
  std::vector<double> seconds, cpu;
  for (int i = 0; i < runs; ++i) {
    const double clock_start = clock_seconds(), cpu_start = cpu_seconds();
    step(work, of_entropy);
    seconds.push_back(clock_seconds() - clock_start);
    cpu.push_back(cpu_seconds() - cpu_start);
  }
  fmt::print(R"({{"side": "agon", "seconds": {:.4f}, "cpu_seconds": {:.4f}, "gflops": {:.1f}, "extra_mib": {}}})"
             "\n",
             median(seconds), median(cpu), 8e-9 * static_cast<double>(tokens * width * vocabulary) / median(seconds),
             extra);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "usage: token_logprob_bench TOKENS WIDTH [VOCABULARY, 151936] [threads, 2] [runs, 3] [grad|value, grad] "
               "[cpu|cuda, cpu]\n");
    return 2;
  }
  const auto argument = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  try {
    run(argument(1, 0), argument(2, 0), argument(3, 151936), argument(4, 2), argument(5, 3),
        argc <= 6 || std::string(argv[6]) == "grad", at::Device(argc > 7 ? argv[7] : "cpu"));
  } catch (const Error& error) {
    fmt::print(stderr, "token_logprob_bench: {}\n", error.what());
    return 1;
  }
}
