// Compares results of the GPU with those of the CPU. Compiled with AGON_CUDA, and run if there is a GPU.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>

#include <atomic>
#include <limits>

#include "agents/learn/network/token_logprob.h"
#include "first_step.h"
#include "golden/generations.h"
#include "record/run_reader.h"
#include "temp_folder.h"
#include "torch_catch.h"

using namespace agon::agents;
using namespace agon::test;
using at::Tensor;

namespace {

struct Problem {
  Tensor hidden, head, ids, d_logprob, d_entropy;

  Problem on(at::Device device) const {
    return {hidden.detach().to(device).set_requires_grad(true), head.detach().to(device).set_requires_grad(true),
            ids.to(device), d_logprob.to(device), d_entropy.to(device)};
  }
};

Problem random_problem(std::int64_t tokens, std::int64_t width, std::int64_t vocabulary) {
  at::manual_seed(3);
  return {at::randn({tokens, width}), at::randn({vocabulary, width}) * (3 / std::sqrt(static_cast<double>(width))),
          at::randint(vocabulary, {tokens}, at::kLong), at::randn({tokens}), at::randn({tokens})};
}

std::vector<Tensor> results(const Problem& problem, double temperature) {
  const TokenLogprobs of = token_logprobs(problem.hidden, problem.head, problem.ids, temperature);
  std::vector<Tensor> all = torch::autograd::grad({of.logprob, of.entropy}, {problem.hidden, problem.head},
                                                  {problem.d_logprob, problem.d_entropy});
  all.insert(all.end(), {of.logprob.detach(), of.entropy.detach()});
  return all;
}

// The largest difference as a share of the largest value, or of 1 where all are smaller.
double difference(const Tensor& actual, const Tensor& expected) {
  REQUIRE(actual.sizes() == expected.sizes());
  if (actual.numel() == 0) return 0;
  const Tensor a = actual.to(at::kCPU, at::kDouble), b = expected.to(at::kCPU, at::kDouble);
  return (a - b).abs().max().item<double>() / std::max(1.0, b.abs().max().item<double>());
}

Tensor gradient_on(const std::string& device, const std::string& precision) {
  FirstStep step(config_with("unused", {"device=" + device, "precision=" + precision, "credit.kl=0.1"}));
  move_weights(step.model, step.model.trained(), 0.001);
  step.loss();
  std::vector<Tensor> parts;
  for (const Tensor& weight : step.model.trained()) parts.push_back(weight.grad().flatten().to(at::kCPU, at::kDouble));
  return at::cat(parts);
}

double norm(const Tensor& values) { return values.norm().item<double>(); }

}  // namespace

TEST_CASE("GPU: one is there") { REQUIRE(torch::cuda::is_available()); }

TEST_CASE("GPU: token_logprobs equals the CPU's, forward and backward, and itself bit by bit") {
  const auto [tokens, width, vocabulary] =
      GENERATE(table<std::int64_t, std::int64_t, std::int64_t>({{1, 1, 1},
                                                                {1, 8, 5},
                                                                {37, 33, 701},
                                                                {64, 16, 64},
                                                                {65, 128, 185},
                                                                {1030, 16, 90},
                                                                {1100, 70, 5001},
                                                                {2100, 17, 9000}}));
  const double temperature = GENERATE(1.0, 0.6, 1.7);
  const Problem problem = random_problem(tokens, width, vocabulary), on_gpu = problem.on(at::kCUDA);
  const auto expected = results(problem.on(at::kCPU), temperature), actual = results(on_gpu, temperature),
             again = results(on_gpu, temperature);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(difference(actual[i], expected[i]) <= 2e-5);
    CHECK(at::equal(actual[i], again[i]));
  }
}

TEST_CASE("GPU: token_logprobs of no tokens, of what is not finite, and of a token that is certain") {
  const auto none = results(random_problem(0, 70, 50).on(at::kCUDA), 1);
  CHECK(none[1].abs().max().item<double>() == 0);
  Problem problem = random_problem(3, 2, 40);
  problem.hidden = at::tensor({1.0F, 0.0F, 1.0F, 0.0F, 1.0F, 0.0F}).view({3, 2});
  problem.head = at::zeros({40, 2});
  problem.head[11][0] = 300;
  problem.ids = at::tensor({11, 12, 11}, at::kLong);
  const auto certain = results(problem.on(at::kCUDA), 1);
  CHECK(certain[2][0].item<double>() == 0);
  CHECK(certain[2][1].item<double>() == -300);
  CHECK(certain[3][0].item<double>() == 0);
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), 1e37F}) {
    problem.hidden[1][0] = value;
    const auto spoilt = results(problem.on(at::kCUDA), 1);
    CHECK(spoilt[2][0].item<double>() == 0);
    CHECK(std::isnan(spoilt[2][1].item<double>()));
  }
}

TEST_CASE("GPU: the gradient of a step is the CPU's, and in bfloat16 it points the same way") {
  const Tensor expected = gradient_on("cpu", "float32"), exact = gradient_on("cuda", "float32"),
               rough = gradient_on("cuda", "auto");
  CHECK(norm(exact - expected) <= 1e-3 * norm(expected));
  CHECK(rough.dot(expected).item<double>() > 0.98 * norm(rough) * norm(expected));
  CHECK(norm(rough) == Approx(norm(expected)).epsilon(0.1));
  CHECK(norm(rough - expected) > 1e-4 * norm(expected));  // the two really differ
}

TEST_CASE("GPU: every architecture's greedy tokens equal those of agon's kernels and of transformers") {
  for (const GoldenGeneration& golden : golden_generations()) {
    CAPTURE(golden.folder);
    const DeviceAgainstKernels result = against_kernels(golden, "cuda");
    CHECK(result.completions > 0);
    CHECK(result.equal_tokens == result.completions);
    CHECK(result.logprob < 5e-4);
    CHECK(result.sampled < 5e-4);
    CHECK(result.scoring < 1e-4);
  }
}

TEST_CASE("GPU: bfloat16 weights give log-probabilities that are near") {
  for (const GoldenGeneration& golden : golden_generations()) {
    CAPTURE(golden.folder);
    const auto exact = make_local_policy(golden.folder,
                                         {.backend = {.device = "cuda", .memory = {.weights = WeightKind::f32}}}),
               rough = make_local_policy(golden.folder,
                                         {.backend = {.device = "cuda", .memory = {.weights = WeightKind::bf16}}});
    double difference = 0, tokens = 0;
    for (std::size_t i = 0; i < golden.requests.size(); ++i) {
      const ScoreRequest given{golden.requests[i].messages, golden.ids[i], 1.0};
      const auto a = exact->score({&given, 1}).at(0).logprobs, b = rough->score({&given, 1}).at(0).logprobs;
      REQUIRE(a.size() == b.size());
      for (std::size_t t = 0; t < a.size(); ++t, ++tokens)
        difference += std::abs(static_cast<double>(a[t]) - static_cast<double>(b[t]));
    }
    CHECK(difference / tokens < 0.05);
    CHECK(difference > 0);
  }
}

TEST_CASE("GPU: an engine that shares the training's weights plays with those of every step") {
  const TempFolder folder;
  const TrainConfig config =
      config_with(folder / "out", {"device=cuda", "precision=float32", "engine=device", "steps=3", "evaluation.every=0",
                                   "optimizer.learning_rate=0.001"});
  REQUIRE(train(config, Resume::no, std::atomic<bool>(false)));
  const auto ratios = agon::record::RunReader::open(folder / "out")->metrics()["policy/ratio"];
  REQUIRE(ratios.size() >= 2);  // a step without rewards trains nothing
  for (const auto& [step, ratio] : ratios) CHECK(ratio == Approx(1).margin(1e-3));
}

TEST_CASE("GPU: a training run goes on from its checkpoint, and begins as it does on the CPU") {
  const TempFolder folder;
  const auto losses = [&](const std::string& device, std::initializer_list<bool> stops) {
    for (const bool stop : stops)
      train(config_with(folder / device, {"device=" + device, "precision=float32", "evaluation.every=0"}),
            stop ? Resume::no : Resume::yes, std::atomic<bool>(stop));
    return agon::record::RunReader::open(folder / device)->metrics()["policy/loss"];
  };
  const auto on_cpu = losses("cpu", {false}), on_gpu = losses("cuda", {true, false});
  REQUIRE(on_cpu.size() == 6);
  REQUIRE(on_gpu.size() == 6);
  CHECK(on_gpu[0].second == Approx(on_cpu[0].second).margin(1e-4));  // later the roll-outs differ by a token
}
