// Compares the torch backend on the CPU with agon's kernels, which other tests compare with transformers.
#include "agents/learn/backend/torch_backend.h"

#include "torch_catch.h"  // before golden/checkpoint.h, which includes Catch2

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "adapter_files.h"
#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/torch_info.h"
#include "core/error.h"
#include "golden/checkpoint.h"
#include "golden/generations.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::largest_difference;
using agon::test::LetterTokenizer;
using Catch::Contains;

namespace {

constexpr const char* kTorch = "torch:cpu";

std::unique_ptr<Engine> make_engine(const GoldenCheckpoint& model, std::unique_ptr<ModelBackend> backend) {
  return std::make_unique<Engine>(std::move(backend), model.config, std::make_shared<LetterTokenizer>(),
                                  EngineOptions{.threads = 1});
}

std::unique_ptr<Engine> make_engine(const GoldenCheckpoint& model, const std::string& device,
                                    const MemoryWish& memory = {.weights = WeightKind::f32}) {
  return make_engine(model, open_backend(model.folder, model.config, {device, memory}));
}

std::shared_ptr<TransformerNetwork> load_network(const GoldenCheckpoint& model) {
  auto network = std::make_shared<TransformerNetwork>(model.config);
  load_weights(*network, model.folder);
  return network;
}

GenerationRequest request_of(const EncodedPrompt& prompt, int max_tokens, int n = 1) {
  GenerationRequest request{prompt, n, {}};
  request.sampling.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  return request;
}

// Checks greedy completions: equal tokens, and log-probabilities within the margin.
void check_near(const std::vector<Completion>& written, const std::vector<Completion>& expected, double margin = 1e-4) {
  REQUIRE(written.size() == expected.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    CHECK(written[i].token_ids == expected[i].token_ids);
    CHECK(largest_difference(written[i].logprobs, expected[i].logprobs) < margin);
  }
}

// The tokens of a row after its pictures.
ScoringRequest rest_of(const GoldenCheckpoint& model, int row) {
  const EncodedPrompt whole = model.prompt(row);
  const std::size_t cut = whole.ids.size() - 4;
  return {model.prompt(row, cut), {whole.ids.begin() + static_cast<std::ptrdiff_t>(cut), whole.ids.end()}};
}

}  // namespace

TEST_CASE("torch backend: every architecture's greedy tokens equal those of agon's kernels and of transformers") {
  for (const auto& golden : agon::test::golden_generations()) {
    CAPTURE(golden.folder);
    const agon::test::DeviceAgainstKernels result = agon::test::against_kernels(golden, kTorch);
    CHECK(result.completions > 0);
    CHECK(result.equal_tokens == result.completions);
    CHECK(result.logprob < 1e-4);
    CHECK(result.logprob > 0);  // its products differ from the kernels'
    CHECK(result.sampled < 1e-4);
    CHECK(result.scoring < 1e-5);
  }
}

TEST_CASE("torch backend: states and scores behind pictures equal those of agon's kernels") {
  for (const auto& [name, set] : {std::pair("one_picture", "qwen2_5_vl"), std::pair("uneven_windows", "qwen2_5_vl"),
                                  std::pair("wide_head", "qwen2_5_vl"), std::pair("qwen2_vl", "qwen_vl"),
                                  std::pair("qwen3_vl", "qwen_vl"), std::pair("qwen3_vl_biased", "qwen_vl")}) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(name, set);
    const auto ours = make_engine(model, kCpuDevice), theirs = make_engine(model, kTorch);
    std::vector<ScoringRequest> requests;
    for (int row = 0; row < model.rows; ++row) requests.push_back(rest_of(model, row));
    const auto expected = ours->score(requests), scores = theirs->score(requests);
    const auto expected_states = ours->states(requests), states = theirs->states(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      CHECK(largest_difference(scores.at(i).logprobs, expected.at(i).logprobs) < 1e-4);
      CHECK(largest_difference(states.at(i), expected_states.at(i)) < 1e-3);
    }
  }
}

TEST_CASE("torch backend: prompts that share starts, together and in little memory") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  // Continuations of one prompt, pictures first, that diverge at different places of a page.
  std::vector<GenerationRequest> requests;
  for (int extra = 0; extra < 40; extra += 3) {
    GenerationRequest request = request_of(model.prompt(0), 6, extra % 2 + 1);
    for (int i = 0; i < extra; ++i) request.prompt.ids.push_back(i % 7 + 1);
    request.prompt.ids.insert(request.prompt.ids.end(), 3, extra % 5 + 1);
    requests.push_back(std::move(request));
  }
  const auto expected = make_engine(model, kCpuDevice)->generate(requests);
  check_near(make_engine(model, kTorch)->generate(requests), expected);
  const auto room = static_cast<std::int64_t>(requests.back().prompt.ids.size()) / 16 + 3;  // pages
  const ModelMemory whole = make_engine(model, kTorch)->memory();
  MemoryWish tight{.weights = WeightKind::f32, .limit = whole.weight_bytes + 2 * room * whole.page_bytes};
  const auto engine = make_engine(model, kTorch, tight);
  CHECK(engine->memory().tokens() == 32 * room);
  check_near(engine->generate(requests), expected);
  tight.limit = whole.weight_bytes;
  CHECK_THROWS_WITH(make_engine(model, kTorch, tight), Contains("does not fit into") && Contains("--memory"));
}

TEST_CASE("torch backend: adapters of one base, side by side, equal those of agon's kernels") {
  const GoldenCheckpoint model = golden_checkpoint("wide_head");
  const agon::test::TempFolder folder;
  agon::test::write_adapter(folder / "one", model.config, {.base_model = "", .rank = 3, .alpha = 6},
                            {"model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"}, 1);
  agon::test::write_adapter(folder / "two", model.config, {.base_model = "", .rank = 5, .alpha = 2},
                            {"model.layers.0.self_attn.v_proj", "visual.blocks.2.mlp.gate_proj", "visual.merger.mlp.2"},
                            2);
  std::vector<std::vector<Completion>> written;
  for (const std::string device : {kCpuDevice, kTorch}) {
    const auto engine = make_engine(model, device);
    std::vector<GenerationRequest> requests;
    for (int i = 0; i < 6; ++i) {
      requests.push_back(request_of(model.prompt(i % model.rows), 12, 2));
      if (i % 3 > 0) requests.back().adapter = engine->load_adapter(folder / (i % 3 == 1 ? "one" : "two"));
    }
    written.push_back(engine->generate(requests));
  }
  check_near(written[1], written[0]);
  CHECK(largest_difference({written[1][0].logprobs[0]}, {written[1][2].logprobs[0]}) > 1e-3);
  const GoldenCheckpoint other = golden_checkpoint("one_picture");
  CHECK_THROWS_WITH(make_engine(other, kTorch)->load_adapter(folder / "one"), Contains("of another model?"));
}

TEST_CASE("torch backend: bfloat16 is near, and scoring near sampling") {
  for (const auto& golden : agon::test::golden_generations()) {
    CAPTURE(golden.folder);
    const auto exact = make_local_policy(golden.folder,
                                         {.backend = {.device = kTorch, .memory = {.weights = WeightKind::f32}}}),
               rough = make_local_policy(golden.folder, {.backend = {kTorch, {WeightKind::bf16}}});
    double difference = 0, tokens = 0;
    for (std::size_t i = 0; i < golden.requests.size(); ++i) {
      const ScoreRequest given{golden.requests[i].messages, golden.ids[i], 1.0};
      const auto a = exact->score({&given, 1}).at(0).logprobs, b = rough->score({&given, 1}).at(0).logprobs;
      REQUIRE(a.size() == b.size());
      for (std::size_t t = 0; t < a.size(); ++t, ++tokens)
        difference += std::abs(static_cast<double>(a[t]) - static_cast<double>(b[t]));
      const Completion completion = rough->complete({&golden.requests[i], 1}).at(0);
      const ScoreRequest again{golden.requests[i].messages, completion.token_ids, 1.0};
      CHECK(largest_difference(rough->score({&again, 1}).at(0).logprobs, completion.logprobs) < 0.3);
    }
    CHECK(difference / tokens < 0.05);
    CHECK(difference > 0);
  }
}

TEST_CASE("torch backend: it computes with a training's own tensors") {
  const GoldenCheckpoint model = golden_checkpoint("wide_head");
  const auto network = load_network(model);
  const auto engine = make_engine(model, std::make_unique<TorchBackend>(network));
  const std::vector<GenerationRequest> requests{request_of(model.prompt(0), 8)};
  const auto before = engine->generate(requests);
  check_near(before, make_engine(model, kCpuDevice)->generate(requests));
  {
    const at::NoGradGuard no_grad;
    for (const at::Tensor& weight : network->parameters()) at::Tensor(weight).mul_(1.5);
  }
  engine->change_weights([](ModelBackend&) {});
  const auto after = engine->generate(requests);
  CHECK(largest_difference({after[0].logprobs[0]}, {before[0].logprobs[0]}) > 1e-3);
  const auto expected = std::make_unique<Engine>(engine_weights_of(*network), model.config,
                                                 std::make_shared<LetterTokenizer>(), EngineOptions{.threads = 1})
                            ->generate(requests);
  check_near(after, expected);

  const auto other = load_network(model);
  engine->change_weights([&](ModelBackend& backend) { static_cast<TorchBackend&>(backend).set_weights(other); });
  check_near(engine->generate(requests), before, 1e-7);
  const auto rough = std::make_shared<TransformerNetwork>(model.config, at::TensorOptions(at::kBFloat16));
  CHECK_THROWS_WITH(
      engine->change_weights([&](ModelBackend& backend) { static_cast<TorchBackend&>(backend).set_weights(rough); }),
      Contains("BFloat16") && Contains("cannot take the place"));
}

TEST_CASE("torch backend: what it does not take is refused") {
  const GoldenCheckpoint model = golden_checkpoint("one_picture");
  CHECK_THROWS_WITH(make_engine(model, kTorch, {WeightKind::q8}), Contains("f32 or bf16, not q8"));
  CHECK_THROWS_WITH(make_engine(model, kTorch, {.weights = WeightKind::f32, .keys = kernels::KeyType::q8}),
                    Contains("Leave --kv q8 out"));
  CHECK_THROWS_WITH(make_engine(model, "gpu"), Contains("no device 'gpu'") && Contains("cuda:N"));
  if (!torch_info().cuda_compiled)
    CHECK_THROWS_WITH(make_engine(model, "cuda"), Contains("script/build cuda"));
  else
    CHECK_THROWS_WITH(make_engine(model, "cuda:99"), Contains("does not exist"));
  for (const char* name : {"cpu", "torch:cpu", "cuda", "cuda:0", "cuda:15"}) CHECK(names_device(name));
  for (const char* name : {"", "torch", "cuda:", "cuda:x", "cuda:123", "CPU", "torch:cuda"})
    CHECK_FALSE(names_device(name));
}

TEST_CASE("torch backend: a prompt whose states are no numbers ends its own call alone") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");  // head and embedding are not tied
  const auto network = load_network(model);
  {
    const at::NoGradGuard no_grad;
    for (const auto& [name, weight] : network->named_parameters())
      if (name == "model.embed_tokens.weight") at::Tensor(weight)[7].fill_(NAN);
  }
  const auto engine = make_engine(model, std::make_unique<TorchBackend>(network));
  const GenerationRequest damaged = request_of({{1, 7, 2}, {}}, 4), sound = request_of({{1, 3, 2}, {}}, 1);
  auto beside = std::async(std::launch::async, [&] { return engine->generate({sound}); });
  CHECK_THROWS_WITH(engine->generate({damaged}), Contains("not finite"));
  check_near(beside.get(), make_engine(model, kCpuDevice)->generate({sound}));
}
