#include "agents/learn/network/lora.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <filesystem>

#include "agents/engine/local_policy.h"
#include "agents/hub/peft_adapter.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/packed_batch.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "golden/model.h"
#include "paths.h"
#include "temp_folder.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

namespace fs = std::filesystem;
using at::Tensor;
using Catch::Matchers::Contains;
using test::GoldenModel;
using test::largest_difference;

fs::path golden_adapter(const std::string& name) { return agon::test::golden_path("lora") / name; }

std::map<std::string, Tensor> tensors_of(const fs::path& path) {
  std::map<std::string, Tensor> result;
  const auto file = SafetensorsFile::open(path);
  for (const auto& [name, view] : file->tensors()) {
    Tensor& tensor = result[name] = at::empty(view.shape, at::kFloat);
    std::copy(view.bytes.begin(), view.bytes.end(), static_cast<std::uint8_t*>(tensor.data_ptr()));
  }
  return result;
}

// The largest difference over the rows' tokens, without padding.
double largest_difference(const GoldenModel& golden, const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (std::size_t row = 0; row < golden.lengths().size(); ++row) {
    const auto index = static_cast<std::int64_t>(row), length = golden.lengths()[row];
    largest = std::max(largest, largest_difference(a[index].narrow(0, 0, length), b[index].narrow(0, 0, length)));
  }
  return largest;
}

Tensor loss_of(GoldenModel& golden) {
  std::vector<Tensor> logits, labels;
  const Tensor all = golden.logits(), ids = golden["ids"];
  for (std::size_t row = 0; row < golden.lengths().size(); ++row) {
    const auto index = static_cast<std::int64_t>(row), count = golden.lengths()[row] - 1;
    logits.push_back(all[index].narrow(0, 0, count));
    labels.push_back(ids[index].narrow(0, 1, count));
  }
  return at::cross_entropy_loss(at::cat(logits), at::cat(labels));
}

// Makes B, which starts at zero, nonzero.
void disturb(LoraAdapter& adapter) {
  const at::NoGradGuard no_grad;
  at::manual_seed(2);
  for (Tensor& parameter : adapter.parameters()) parameter.normal_(0, 0.2);
}

struct Case {
  std::string name, model;
};
const std::vector<Case> kCases{{"decoder", "uneven_windows"}, {"both_towers", "wide_head"}};

TEST_CASE("lora: an adapter of PEFT gives PEFT's logits and gradients") {
  for (const auto& [name, model_name] : kCases) {
    INFO(name);
    GoldenModel golden(model_name);
    LoraAdapter adapter(golden.model, golden_adapter(name));
    const auto expected = tensors_of(golden_adapter(name) / "golden.safetensors");
    const Tensor logits = expected.at("logits");
    CHECK(largest_difference(golden, golden.logits(), logits) < 1e-5 * logits.abs().max().item<double>());
    loss_of(golden).backward();
    const auto parameters = adapter.parameters();
    const auto modules = adapter.modules();
    CHECK(expected.size() == 1 + parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor wanted = expected.at("gradient." + modules[i / 2] + (i % 2 ? ".lora_B" : ".lora_A"));
      INFO(modules[i / 2]);
      CHECK(largest_difference(parameters[i].grad(), wanted) < 1e-4 * wanted.abs().max().item<double>() + 1e-6);
    }
    for (const Tensor& weight : golden.model->parameters()) CHECK(!weight.grad().defined());
  }
}

TEST_CASE("lora: a new adapter and one that is off are the model itself, bit by bit") {
  GoldenModel golden("uneven_windows");
  const Tensor before = golden.logits();
  {
    LoraAdapter adapter(golden.model, {.rank = 3}, 1);
    CHECK(at::equal(golden.logits(), before));
    disturb(adapter);
    CHECK(largest_difference(golden.logits(), before) > 1e-2);
    {
      const LoraAdapter::Off off(adapter);
      CHECK(at::equal(golden.logits(), before));
      CHECK(!golden.logits().requires_grad());
      const LoraAdapter::Off inner(adapter);
      CHECK(at::equal(golden.logits(), before));
    }
    CHECK(largest_difference(golden.logits(), before) > 1e-2);
    for (const Tensor& weight : golden.model->parameters()) CHECK(!weight.requires_grad());
  }
  CHECK(at::equal(golden.logits(), before));
  for (const Tensor& weight : golden.model->parameters()) CHECK(weight.requires_grad());
}

TEST_CASE("lora: merged weights are the adapter, and go again") {
  GoldenModel golden("uneven_windows");
  const Tensor before = golden.logits();
  LoraAdapter adapter(golden.model, {.rank = 3}, 1);
  disturb(adapter);
  const Tensor adapted = golden.logits();
  {
    const LoraAdapter::Merged merged(adapter);
    CHECK(largest_difference(golden.logits(), adapted) < 1e-4 * adapted.abs().max().item<double>());
  }
  CHECK(at::equal(golden.logits(), adapted));
  const LoraAdapter::Off off(adapter);
  CHECK(at::equal(golden.logits(), before));
}

TEST_CASE("lora: packed groups take the adapter too") {
  GoldenModel golden("one_picture");
  LoraAdapter adapter(golden.model, {.rank = 2}, 1);
  disturb(adapter);
  EncodedPrompt prompt;
  prompt.ids = {1, 2, 3, 4};
  const std::vector<EncodedPrompt> responses{{{5, 6, 7}, {}}, {{8, 9}, {}}};
  const auto group = make_packed_group(prompt, responses, golden.model->config());
  const PackedBatch batch = make_packed_batch(std::vector<PackedGroup>{group}, golden.model->config());
  const Tensor states = golden.model->packed_hidden_states(batch, {});
  const Tensor ids = at::tensor(std::vector<std::int64_t>{1, 2, 3, 4, 8, 9}).view({1, 6});
  const Tensor positions = at::arange(6).expand({3, 1, 6});
  const Tensor alone = golden.model->hidden_states(ids, positions, {}, std::vector<std::int64_t>{6})[0];
  CHECK(largest_difference(states.narrow(0, 7, 2), alone.narrow(0, 4, 2)) < 1e-5);
}

TEST_CASE("lora: finite differences") {
  GoldenModel golden("uneven_windows");
  LoraAdapter adapter(golden.model, {.rank = 3, .alpha = 6}, 1);
  disturb(adapter);
  loss_of(golden).backward();
  const at::NoGradGuard no_grad;
  for (Tensor& parameter : adapter.parameters()) {
    const double slope = parameter.grad().norm().item<double>();
    REQUIRE(slope > 0);
    const double step = std::min(2e-2, 1e-2 / slope);
    const Tensor move = parameter.grad() * (step / slope);
    parameter.add_(move);
    const double above = loss_of(golden).item<double>();
    parameter.sub_(2 * move);
    const double below = loss_of(golden).item<double>();
    parameter.add_(move);
    CHECK((above - below) / (2 * step) == Approx(slope).epsilon(0.03).margin(2e-4));
  }
}

TEST_CASE("lora: equal seeds draw equal adapters, within PEFT's bound") {
  const auto drawn = [](std::uint64_t seed) {
    GoldenModel golden("one_picture");
    return LoraAdapter(golden.model, {.rank = 4}, seed).parameters();
  };
  const auto first = drawn(5), same = drawn(5), other = drawn(6);
  for (std::size_t i = 0; i < first.size(); i += 2) {
    CHECK(at::equal(first[i], same[i]));
    CHECK(!at::equal(first[i], other[i]));
    const double bound = 1 / std::sqrt(static_cast<double>(first[i].size(1))),
                 most = first[i].abs().max().item<double>();
    CHECK(most <= bound);
    CHECK(most > 0.8 * bound);
    CHECK(first[i + 1].abs().max().item<double>() == 0);
  }
}

TEST_CASE("lora: a saved adapter loads again, with PEFT's names and shapes") {
  for (const auto& [name, model_name] : kCases) {
    const test::TempFolder folder;
    const auto original = tensors_of(golden_adapter(name) / "adapter_model.safetensors");
    Tensor logits;
    {
      GoldenModel golden(model_name);
      LoraAdapter adapter(golden.model, golden_adapter(name));
      logits = golden.logits();
      adapter.save(folder.path(), "some/model");
    }
    const auto saved = tensors_of(folder / "adapter_model.safetensors");
    CHECK(saved.size() == original.size());
    for (const auto& [key, tensor] : original) CHECK(at::equal(saved.at(key), tensor));
    const Json config = Json::parse(read_file((folder / "adapter_config.json").string()));
    const Json peft = Json::parse(read_file((golden_adapter(name) / "adapter_config.json").string()));
    for (const char* key : {"peft_type", "r", "lora_alpha", "use_rslora", "bias"}) CHECK(config[key] == peft[key]);
    CHECK(config["base_model_name_or_path"] == "some/model");
    CHECK(config["target_modules"].size() == original.size() / 2);
    GoldenModel golden(model_name);
    LoraAdapter adapter(golden.model, folder.path());
    CHECK(at::equal(golden.logits(), logits));
  }
}

// The log-probabilities of `ids` after a text prompt.
std::vector<double> logprobs_of(TransformerNetwork& model, std::vector<std::int64_t> prompt,
                                const std::vector<std::int32_t>& ids) {
  const std::size_t first = prompt.size();
  prompt.insert(prompt.end(), ids.begin(), ids.end());
  const auto count = std::ssize(prompt);
  const Tensor positions = at::arange(count).expand({3, 1, count});
  const Tensor states = model.hidden_states(at::tensor(prompt).unsqueeze(0), positions, {}, std::vector{count});
  const Tensor logprobs = at::log_softmax(model.logits(states)[0], -1);
  std::vector<double> result;
  for (std::size_t t = 0; t < ids.size(); ++t)
    result.push_back(logprobs[static_cast<std::int64_t>(first + t) - 1][ids[t]].item<double>());
  return result;
}

TEST_CASE("lora: an adapter that was saved is a policy with the network's log-probabilities") {
  for (const char* name : {"generation/model", "text_models/qwen3", "text_models/llama"}) {
    CAPTURE(name);
    const fs::path base = agon::test::golden_path(name);
    const ModelFolder parts = open_model_folder(base);
    const auto model = std::make_shared<TransformerNetwork>(parts.config);
    load_weights(*model, base);
    const ScoreRequest request{{Message::of(Role::user, "What is 2 + 3?")}, {5, 17, 2, 90, 41}, 1.0, {}};
    const std::vector<std::int32_t> prompt =
        encode_prompt(request.messages, {}, parts.chat, *parts.tokenizer, parts.images, parts.config, nullptr).ids;
    const auto of_network = [&] {
      const at::NoGradGuard no_grad;
      return logprobs_of(*model, {prompt.begin(), prompt.end()}, request.token_ids);
    };
    const std::vector<double> plain = of_network();
    const test::TempFolder folder;
    LoraAdapter adapter(model, {.rank = 3, .alpha = 6, .targets = ".*"}, 1);
    disturb(adapter);
    adapter.save(folder.path(), base.string());
    const std::vector<double> wanted = of_network();
    const auto policy =
        make_local_policy(folder.path(), {.threads = 1, .backend = {.memory = {.weights = WeightKind::f32}}});
    const std::vector<float> logprobs = policy->score({&request, 1}).at(0).logprobs;
    REQUIRE(logprobs.size() == wanted.size());
    for (std::size_t t = 0; t < wanted.size(); ++t) {
      CHECK(static_cast<double>(logprobs[t]) == Approx(wanted[t]).margin(1e-4));
      CHECK(std::abs(wanted[t] - plain[t]) > 1e-2);
    }
  }
}

TEST_CASE("lora: the linears of the network are those that an adapter's file may name") {
  for (const char* name : {"generation/model", "text_models/llama"}) {
    const ModelConfig config = open_model_folder(agon::test::golden_path(name)).config;
    LinearShapes shapes;
    const TransformerNetwork model(config);
    for (const auto& [module, linear] : model.linears())
      shapes[module] = {linear.weight.size(0), linear.weight.size(1)};
    CHECK((shapes == adaptable_linears(config)));
  }
}

TEST_CASE("lora: restore takes the values of an adapter of the same kind") {
  const test::TempFolder folder;
  GoldenModel golden("uneven_windows");
  Tensor logits;
  {
    LoraAdapter adapter(golden.model, {.rank = 3}, 1);
    disturb(adapter);
    logits = golden.logits();
    adapter.save(folder.path(), "");
  }
  {
    LoraAdapter adapter(golden.model, {.rank = 3}, 2);
    adapter.restore(folder.path());
    CHECK(at::equal(golden.logits(), logits));
    CHECK(adapter.parameters()[0].requires_grad());
  }
  {
    LoraAdapter adapter(golden.model, {.rank = 4}, 2);
    CHECK_THROWS_WITH(adapter.restore(folder.path()), Contains("rank 3"));
  }
  LoraAdapter adapter(golden.model, {.rank = 3, .targets = ".*q_proj"}, 2);
  CHECK_THROWS_WITH(adapter.restore(folder.path()), Contains("not the same ones"));
}

TEST_CASE("lora: options that cannot be are refused") {
  GoldenModel golden("uneven_windows");
  const auto make = [&](const LoraOptions& options) { LoraAdapter(golden.model, options, 1); };
  CHECK_THROWS_WITH(make({.targets = "query"}), Contains("no linear of the model matches 'query'"));
  CHECK_THROWS_WITH(make({.targets = "(q_proj"}), Contains("not a regular expression"));
  CHECK_THROWS_WITH(make({.rank = 0}), Contains("a rank of 0"));
  CHECK_THROWS_WITH(make({.rank = 33}), Contains("a rank of 33"));
  CHECK_THROWS_WITH(make({.rank = 2, .alpha = 0}), Contains("alpha is 0"));
  CHECK_THROWS_WITH(make({.rank = 2, .alpha = std::nan("")}), Contains("alpha is nan"));
  const LoraAdapter first(golden.model, {.rank = 2}, 1);
  CHECK_THROWS_WITH(make({.rank = 2}), Contains("an adapter already"));
  CHECK(golden.logits().requires_grad());  // the first adapter is still in place
}

void rewrite_config(const fs::path& folder, const std::string& key, const Json& value) {
  const std::string path = (folder / "adapter_config.json").string();
  Json config = Json::parse(read_file(path));
  config[key] = value;
  write_file_atomically(path, config.dump());
}

TEST_CASE("lora: adapters that do not fit are refused") {
  GoldenModel golden("uneven_windows");
  const auto load = [&](const fs::path& folder) { LoraAdapter(golden.model, folder); };
  CHECK_THROWS_WITH(load("/nonexistent"), Contains("no adapter_config.json"));
  GoldenModel other("one_picture");
  CHECK_THROWS_WITH(LoraAdapter(other.model, golden_adapter("decoder")), Contains("Is the adapter of another model?"));
  const std::vector<std::tuple<std::string, Json, std::string>> settings{
      {"use_dora", true, "use_dora"},
      {"rank_pattern", {{"q_proj", 8}}, "rank_pattern"},
      {"bias", "all", "'bias' is \"all\""},
      {"peft_type", "IA3", "only LORA"},
      {"r", 0, "'r' is 0"},
      {"r", "four", "'r' is \"four\""},
      {"lora_alpha", -1, "'lora_alpha'"},
      {"r", 5, "instead of [5, "}};
  for (const auto& [key, value, message] : settings) {
    const test::TempFolder folder;
    fs::copy(golden_adapter("decoder"), folder.path());
    rewrite_config(folder.path(), key, value);
    CHECK_THROWS_WITH(load(folder.path()), Contains(message));
  }
  const test::TempFolder folder;
  fs::copy(golden_adapter("decoder"), folder.path());
  const auto file = SafetensorsFile::open(golden_adapter("decoder") / "adapter_model.safetensors");
  std::map<std::string, TensorView> views = file->tensors();
  views.erase(views.begin());
  views["base_model.model.score.weight"] = views.begin()->second;
  write_safetensors(folder / "adapter_model.safetensors", views);
  CHECK_THROWS_WITH(load(folder.path()),
                    Contains("no lora_A") && Contains("score.weight: not the name of a LoRA matrix"));
  write_file_atomically((folder / "adapter_config.json").string(), "[1");
  CHECK_THROWS_WITH(load(folder.path()), Contains("not a JSON object"));
  CHECK(golden.model->parameters()[0].requires_grad());
}

}  // namespace
}  // namespace agon::agents
