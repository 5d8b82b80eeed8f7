#include "agents/learn/network/packed_batch.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <numeric>

#include "agents/learn/network/transformer_network.h"
#include "core/error.h"
#include "golden/model.h"
#include "random_texts.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;
using Catch::Matchers::Contains;
using test::alone;
using test::GoldenModel;
using test::joined;
using test::largest_difference;
using test::TextMaker;

struct TextGroup {
  EncodedPrompt prompt;
  std::vector<EncodedPrompt> responses;
};

PackedBatch pack(const std::vector<TextGroup>& groups, const ModelConfig& config) {
  std::vector<PackedGroup> packed;
  for (const TextGroup& group : groups) packed.push_back(make_packed_group(group.prompt, group.responses, config));
  return make_packed_batch(packed, config);
}

Tensor packed(TransformerNetwork& model, const PackedBatch& batch) {
  const Tensor images = batch.patches.defined() ? model.encode_images(batch.patches, batch.grids) : Tensor();
  return model.packed_hidden_states(batch, images);
}

// The states that predict the responses' tokens, computed with one sequence per response, [T, H].
Tensor unpacked_predictors(TransformerNetwork& model, const std::vector<TextGroup>& groups) {
  std::vector<Tensor> states;
  for (const TextGroup& group : groups)
    for (const EncodedPrompt& response : group.responses) {
      const auto from = static_cast<std::int64_t>(group.prompt.ids.size()) - 1;
      const auto count = static_cast<std::int64_t>(response.ids.size());
      if (count > 0) states.push_back(alone(model, joined(group.prompt, response)).narrow(0, from, count));
    }
  return states.empty() ? at::zeros({0, model.config().text.hidden_size}) : at::cat(states);
}

std::vector<Tensor> gradients_of(TransformerNetwork& model, const Tensor& loss) {
  for (const Tensor& parameter : model.parameters()) parameter.mutable_grad() = Tensor();
  if (loss.requires_grad()) loss.backward();
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : model.parameters())
    gradients.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::zeros_like(parameter));
  return gradients;
}

// Compares values and gradients of every parameter, packed and with one sequence per response.
void check_exact(const std::string& model_name, const std::vector<TextGroup>& groups) {
  GoldenModel golden(model_name);
  const PackedBatch batch = pack(groups, golden.model->config());
  const Tensor states = packed(*golden.model, batch).index_select(0, batch.predictors);
  const Tensor expected = unpacked_predictors(*golden.model, groups);
  REQUIRE(states.sizes() == expected.sizes());
  CHECK(largest_difference(states, expected) <
        1e-5 * std::max(1.0, expected.numel() ? expected.abs().max().item<double>() : 0));
  at::manual_seed(7);
  const Tensor mix = at::randn(states.sizes());
  const auto gradients = gradients_of(*golden.model, (states * mix).sum());
  const auto wanted = gradients_of(*golden.model, (expected * mix).sum());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    INFO(golden.model->named_parameters()[i].first);
    CHECK(largest_difference(gradients[i], wanted[i]) <= 1e-4 * wanted[i].abs().max().item<double>() + 1e-7);
  }
}

const std::vector<std::string> kPackedModels{"one_picture", "uneven_windows", "wide_head"};

void check_all(const std::function<std::vector<TextGroup>(TextMaker&)>& make) {
  for (const std::string& name : kPackedModels) {
    INFO(name);
    const ModelConfig config = GoldenModel(name).model->config();
    TextMaker texts(config, 5);
    check_exact(name, make(texts));
  }
}

TEST_CASE("packed batch: responses of unequal lengths, one token, none") {
  check_all([](TextMaker& texts) {
    return std::vector<TextGroup>{
        {texts.text(4, {{1, 4, 4}}), {texts.text(7), texts.text(1), texts.text(0), texts.text(12)}}};
  });
}

TEST_CASE("packed batch: several groups, some without a picture, one response or none") {
  check_all([](TextMaker& texts) {
    return std::vector<TextGroup>{{texts.text(3, {{1, 2, 4}}), {texts.text(5), texts.text(3)}},
                                  {texts.text(6), {texts.text(4)}},
                                  {texts.text(5), {}},
                                  {texts.text(2, {{1, 4, 2}}), {texts.text(0), texts.text(2), texts.text(9)}}};
  });
}

TEST_CASE("packed batch: several pictures in a prompt, pictures in a response's later turn") {
  check_all([](TextMaker& texts) {
    return std::vector<TextGroup>{{texts.text(3, {{1, 4, 6}, {1, 2, 2}, {1, 6, 4}}),
                                   {texts.text(5, {{1, 4, 4}}), texts.text(8), texts.text(2, {{1, 2, 6}, {1, 4, 2}})}},
                                  {texts.text(3), {texts.text(4, {{1, 6, 2}})}}};
  });
}

TEST_CASE("packed batch: a prompt and a response of several blocks") {
  check_all([](TextMaker& texts) {
    return std::vector<TextGroup>{{texts.text(150, {{1, 8, 8}}), {texts.text(140), texts.text(20), texts.text(301)}}};
  });
}

TEST_CASE("packed batch: rows of the prompt equal the prompt's alone, and a response starts where it ends") {
  GoldenModel golden("uneven_windows");
  TextMaker texts(golden.model->config(), 9);
  const TextGroup group{texts.text(4, {{1, 4, 6}}), {texts.text(6)}};
  const PackedBatch batch = pack({group}, golden.model->config());
  const auto length = static_cast<std::int64_t>(group.prompt.ids.size());
  CHECK(largest_difference(packed(*golden.model, batch).narrow(0, 0, length), alone(*golden.model, group.prompt)) <
        1e-5);
  CHECK(batch.predictors[0].item<std::int64_t>() == length - 1);
  CHECK(batch.predictors[1].item<std::int64_t>() == length);
  CHECK(batch.targets[0].item<std::int64_t>() == group.responses[0].ids[0]);
}

TEST_CASE("packed batch: finite differences") {
  GoldenModel golden("uneven_windows");
  TextMaker texts(golden.model->config(), 11);
  const std::vector<TextGroup> groups{{texts.text(3, {{1, 4, 4}}), {texts.text(6), texts.text(4, {{1, 2, 4}})}},
                                      {texts.text(5), {texts.text(3), texts.text(7)}}};
  const PackedBatch batch = pack(groups, golden.model->config());
  at::manual_seed(13);
  const Tensor mix = at::randn({batch.predictors.size(0), golden.model->config().text.hidden_size});
  const auto loss = [&] { return (packed(*golden.model, batch).index_select(0, batch.predictors) * mix).sum(); };
  const auto gradients = gradients_of(*golden.model, loss());
  const auto parameters = golden.model->parameters();
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double slope = gradients[i].norm().item<double>();
    if (slope == 0) continue;
    const double step = std::min(1e-2, 0.2 / slope);
    const Tensor move = gradients[i] * (step / slope);
    Tensor parameter = parameters[i];
    parameter.add_(move);
    const double above = loss().item<double>();
    parameter.sub_(2 * move);
    const double below = loss().item<double>();
    parameter.add_(move);
    INFO(golden.model->named_parameters()[i].first);
    CHECK((above - below) / (2 * step) == Approx(slope).epsilon(0.03));
  }
}

TEST_CASE("packed batch: batches that do not hold are refused") {
  const ModelConfig config = GoldenModel("one_picture").model->config();
  TextMaker texts(config, 1);
  const EncodedPrompt prompt = texts.text(3, {{1, 4, 4}}), response = texts.text(4);
  const auto make = [&](const PackedGroup& group) {
    return make_packed_batch(std::vector<PackedGroup>{group}, config);
  };
  PackedGroup group = make_packed_group(prompt, std::vector<EncodedPrompt>{response}, config);
  CHECK_NOTHROW(make(group));
  PackedGroup short_positions = group;
  short_positions.responses[0].positions.pop_back();
  CHECK_THROWS_WITH(make(short_positions), Contains("3 positions for 4 ids"));
  PackedGroup no_picture = group;
  no_picture.prompt.images.clear();
  CHECK_THROWS_WITH(make(no_picture), Contains("4 image tokens in a sequence, its 0 pictures give 0"));
  PackedGroup no_prompt = group;
  no_prompt.prompt = {};
  CHECK_THROWS_WITH(make(no_prompt), Contains("an empty prompt"));
  GoldenModel golden("one_picture");
  CHECK(golden.model->packed_hidden_states(make_packed_batch({}, config), {}).size(0) == 0);
  CHECK_THROWS_WITH(golden.model->packed_hidden_states(make(group), {}), Contains("4 image tokens"));
}

}  // namespace
}  // namespace agon::agents
