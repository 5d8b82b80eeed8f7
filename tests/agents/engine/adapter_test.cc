#include "agents/engine/adapter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "adapter_files.h"
#include "agents/engine/engine.h"
#include "agents/hub/checkpoint_tensors.h"
#include "agents/hub/peft_adapter.h"
#include "core/error.h"
#include "golden/checkpoint.h"
#include "golden/engine.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::LetterTokenizer;

namespace {

using Adapter = std::shared_ptr<const EngineAdapter>;

struct Case {
  std::string adapter, model;
};
const std::vector<Case> kCases{{"decoder", "uneven_windows"}, {"both_towers", "wide_head"}};

std::filesystem::path golden_adapter(const std::string& name) { return agon::test::golden_path("lora") / name; }

std::unique_ptr<Engine> engine_with_adapters(const GoldenCheckpoint& model, EngineWeights weights, int threads = 1) {
  return std::make_unique<Engine>(std::move(weights), model.config, std::make_shared<LetterTokenizer>(),
                                  EngineOptions{.threads = threads});
}
std::unique_ptr<Engine> engine_with_adapters(const GoldenCheckpoint& model, int threads = 1) {
  return engine_with_adapters(model, load_engine_weights(model.folder, model.config, WeightKind::f32), threads);
}

// A second adapter of a model, for both towers.
Adapter other_adapter(const GoldenCheckpoint& model) {
  const agon::test::TempFolder folder;
  agon::test::write_adapter(folder.path(), model.config, {.base_model = "", .rank = 5, .alpha = 2},
                            {"model.layers.0.self_attn.k_proj", "model.layers.0.self_attn.v_proj",
                             "model.layers.1.mlp.down_proj", "visual.blocks.2.mlp.gate_proj", "visual.merger.mlp.2"},
                            3);
  return load_engine_adapter(folder.path(), model.config);
}

// The tokens of a row after its pictures.
ScoringRequest rest_of(const GoldenCheckpoint& model, int row, const Adapter& adapter) {
  const std::vector<std::int32_t> all = model.prompt(row).ids;
  const std::size_t cut = all.size() - 4;
  ScoringRequest request{model.prompt(row, cut), {all.begin() + static_cast<std::ptrdiff_t>(cut), all.end()}};
  request.alternatives = model.config.text.vocab_size;
  request.adapter = adapter;
  return request;
}

// fp32 weights of a model with an adapter merged in, in double.
EngineWeights merged_weights(const GoldenCheckpoint& model, const std::filesystem::path& folder) {
  const PeftAdapter adapter = open_peft_adapter(folder, adaptable_linears(model.config));
  const auto rank = static_cast<std::size_t>(adapter.config.rank);
  const auto file = SafetensorsFile::open(model.folder / "model.safetensors");
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, TensorView> views;
  for (const auto& [name, view] : file->tensors()) {
    std::vector<float>& weight = values[hub_name(name)] = values_of({view});
    views[hub_name(name)] = {
        "F32", view.shape, {reinterpret_cast<const std::uint8_t*>(weight.data()), 4 * weight.size()}};
  }
  for (const auto& [module, matrices] : adapter.modules) {
    const std::vector<float> a = values_of({matrices.a}), b = values_of({matrices.b});
    std::vector<float>& weight = values.at(module + ".weight");
    const std::size_t inputs = a.size() / rank;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      double sum = 0;
      for (std::size_t r = 0; r < rank; ++r)
        sum += static_cast<double>(b[i / inputs * rank + r]) * static_cast<double>(a[r * inputs + i % inputs]);
      weight[i] = static_cast<float>(static_cast<double>(weight[i]) + adapter.config.scale() * sum);
    }
  }
  return make_engine_weights(views, model.config);
}

void check_same_completion(const Completion& a, const Completion& b) {
  CHECK(a.token_ids == b.token_ids);
  CHECK(a.logprobs == b.logprobs);  // bit for bit
  CHECK(a.finish_reason == b.finish_reason);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum);
}

// All prompts, each with every adapter.
std::vector<GenerationRequest> mixed_requests(const GoldenCheckpoint& model, const std::vector<Adapter>& adapters) {
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 12; ++i) {
    GenerationRequest request{model.prompt(i % model.rows), i % 4 + 1, {}};
    request.sampling.seed = static_cast<std::uint64_t>(i);
    request.sampling.max_tokens = 4 + 5 * (i % 5);
    request.sampling.temperature = i % 4 == 3 ? 0 : 0.9;
    request.adapter = adapters[static_cast<std::size_t>(i) % adapters.size()];
    requests.push_back(request);
  }
  return requests;
}

}  // namespace

TEST_CASE("engine adapter: scores equal PEFT's log-probabilities") {
  for (const auto& [name, model_name] : kCases) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(model_name);
    const auto engine = engine_with_adapters(model);
    const Adapter adapter = load_engine_adapter(golden_adapter(name), model.config);
    CHECK(adapter->adapts_vision == (name == "both_towers"));
    GoldenCheckpoint golden = model;
    golden.file = SafetensorsFile::open(golden_adapter(name) / "golden.safetensors");
    for (int row = 0; row < model.rows; ++row) {
      const ScoringRequest request = rest_of(model, row, adapter);
      const TokenScores scores = engine->score({request}).at(0), plain = engine->score({rest_of(model, row, {})}).at(0);
      REQUIRE(scores.logprobs.size() == 4);
      CHECK(scores.logprobs != plain.logprobs);
      for (std::size_t t = 0; t < 4; ++t) {
        const auto wanted = agon::test::golden_logprobs(golden, row, request.prompt.ids.size() + t - 1);
        REQUIRE(scores.alternatives[t].size() == 41);  // the ids that can be sampled
        for (const Alternative& one : scores.alternatives[t])
          CHECK(static_cast<double>(one.logprob) == Approx(wanted[static_cast<std::size_t>(one.id)]).margin(1e-4));
      }
    }
  }
}

TEST_CASE("engine adapter: the logits are those of the merged model") {
  for (const auto& [name, model_name] : kCases) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(model_name);
    const auto engine = engine_with_adapters(model),
               merged = engine_with_adapters(model, merged_weights(model, golden_adapter(name)));
    const Adapter adapter = load_engine_adapter(golden_adapter(name), model.config);
    for (int row = 0; row < model.rows; ++row) {
      const auto apart = engine->states({rest_of(model, row, adapter)}).at(0),
                 together = merged->states({rest_of(model, row, {})}).at(0);
      REQUIRE(apart.size() == together.size());
      for (std::size_t i = 0; i < apart.size(); ++i) REQUIRE(apart[i] == Approx(together[i]).epsilon(0).margin(1e-5));
      const TokenScores one = engine->score({rest_of(model, row, adapter)}).at(0),
                        other = merged->score({rest_of(model, row, {})}).at(0);
      for (std::size_t t = 0; t < one.alternatives.size(); ++t)
        for (const Alternative& a : one.alternatives[t])
          for (const Alternative& b : other.alternatives[t])
            if (a.id == b.id) REQUIRE(a.logprob == Approx(b.logprob).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("engine adapter: what runs beside a request, with whichever adapter, changes no bit of it") {
  for (const auto& [name, model_name] : kCases) {
    CAPTURE(name);
    const GoldenCheckpoint model = golden_checkpoint(model_name);
    const Adapter first = load_engine_adapter(golden_adapter(name), model.config), second = other_adapter(model);
    const auto requests = mixed_requests(model, {nullptr, first, second, first, nullptr});
    std::vector<Completion> alone;
    for (const GenerationRequest& request : requests)
      for (Completion& one : engine_with_adapters(model)->generate({request})) alone.push_back(std::move(one));
    for (const int threads : {1, 2}) {
      const auto together = engine_with_adapters(model, threads)->generate(requests);
      REQUIRE(together.size() == alone.size());
      for (std::size_t i = 0; i < alone.size(); ++i) check_same_completion(together[i], alone[i]);
    }
    auto many = requests;  // enough for every thread to have a batch of its own
    for (GenerationRequest& request : many) request.n = 12;
    const auto batches = engine_with_adapters(model, 2)->generate(many);
    std::size_t place = 0;
    for (std::size_t r = 0; r < requests.size(); ++r)
      for (int i = 0; i < requests[r].n; ++i)
        check_same_completion(batches[r * 12 + static_cast<std::size_t>(i)], alone[place++]);
  }
}

TEST_CASE("engine adapter: three readers of one prompt differ") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const auto engine = engine_with_adapters(model);
  const Adapter first = load_engine_adapter(golden_adapter("decoder"), model.config), second = other_adapter(model);
  std::vector<ScoringRequest> requests;
  for (const Adapter& adapter : {Adapter(), first, second}) requests.push_back(rest_of(model, 0, adapter));
  const auto scores = engine->score(requests);
  CHECK(scores[0].logprobs != scores[1].logprobs);
  CHECK(scores[0].logprobs != scores[2].logprobs);
  CHECK(scores[1].logprobs != scores[2].logprobs);
}

TEST_CASE("engine adapter: scoring equals sampling bit for bit") {
  for (const auto& [name, model_name] : kCases) {
    const GoldenCheckpoint model = golden_checkpoint(model_name);
    const auto engine = engine_with_adapters(model, 2);
    const Adapter first = load_engine_adapter(golden_adapter(name), model.config), second = other_adapter(model);
    auto requests = mixed_requests(model, {first, second, nullptr});
    for (GenerationRequest& request : requests) request.sampling.temperature = 0.8;
    const auto written = engine->generate(requests);
    std::vector<ScoringRequest> again;
    std::size_t place = 0;
    for (const GenerationRequest& request : requests)
      for (int i = 0; i < request.n; ++i)
        again.push_back({request.prompt, written[place++].token_ids, 0.8, 0, request.adapter});
    const auto scores = engine->score(again);
    for (std::size_t i = 0; i < written.size(); ++i) CHECK(scores[i].logprobs == written[i].logprobs);
  }
}

TEST_CASE("engine adapter: prompts are shared by those of one adapter alone") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const auto engine = engine_with_adapters(model);
  const Adapter first = load_engine_adapter(golden_adapter("decoder"), model.config), second = other_adapter(model);
  GenerationRequest request{model.prompt(0), 1, {}};
  request.sampling.max_tokens = 1;
  const int all = static_cast<int>(request.prompt.ids.size());
  const auto cached = [&](const Adapter& adapter) {
    request.adapter = adapter;
    return engine->generate({request}).at(0).cached_tokens;
  };
  for (const int wanted : {0, all})
    for (const Adapter& adapter : {first, Adapter(), second}) CHECK(cached(adapter) == wanted);
  CHECK(cached(load_engine_adapter(golden_adapter("decoder"), model.config)) == all);  // an equal one
  request.prompt.ids.push_back(3);
  CHECK(cached(second) == all);
}

TEST_CASE("engine adapter: it stands on weights of every kind") {
  const GoldenCheckpoint model = golden_checkpoint("uneven_windows");
  const Adapter adapter = load_engine_adapter(golden_adapter("decoder"), model.config);
  const auto exact = engine_with_adapters(model)->states({rest_of(model, 0, adapter)}).at(0);
  for (const WeightKind kind : {WeightKind::bf16, WeightKind::q8}) {
    const auto engine = engine_with_adapters(model, load_engine_weights(model.folder, model.config, kind));
    const auto near = engine->states({rest_of(model, 0, adapter)}).at(0),
               base = engine->states({rest_of(model, 0, {})}).at(0);
    INFO(name_of(kind) << ": " << distance(near, exact) << ", the base's " << distance(base, exact));
    CHECK(distance(near, exact) < 0.1 * distance(base, exact));
    GenerationRequest request{model.prompt(0), 3, {}};
    request.sampling.max_tokens = 12;
    request.adapter = adapter;
    for (const Completion& one : engine->generate({request}))
      CHECK(engine->score({{request.prompt, one.token_ids, 1.0, 0, adapter}}).at(0).logprobs == one.logprobs);
  }
}
