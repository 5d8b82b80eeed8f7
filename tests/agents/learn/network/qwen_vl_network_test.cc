// Compares the torch network of Qwen2-VL and Qwen3-VL with transformers (script/golden.d/qwen_vl.py).
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "agents/learn/network/packed_batch.h"
#include "agents/learn/network/transformer_network.h"
#include "golden/model.h"
#include "golden/network.h"
#include "random_texts.h"
#include "temp_folder.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;
using test::GoldenModel;
using test::largest_difference;

const std::vector<std::string> kQwenVl{"qwen2_vl", "qwen3_vl", "qwen3_vl_biased"};

TEST_CASE("qwen_vl in torch: the vision tower with DeepStack equals transformers") {
  for (const std::string& name : kQwenVl) {
    INFO(name);
    GoldenModel golden(name, "qwen_vl");
    const Tensor images = golden.model->encode_images(golden["patches"], golden.grids());
    REQUIRE(images.sizes() == golden["images"].sizes());
    CHECK(largest_difference(images, golden["images"]) < 1e-4);
  }
}

TEST_CASE("qwen_vl in torch: logits equal transformers") {
  for (const std::string& name : kQwenVl) {
    INFO(name);
    GoldenModel golden(name, "qwen_vl");
    test::check_logits(golden);
  }
}

TEST_CASE("qwen_vl in torch: logits of prompts with videos equal transformers") {
  for (const auto& [name, set] : {std::pair("qwen2_vl", "qwen_vl"), std::pair("uneven_windows", "qwen2_5_vl"),
                                  std::pair("qwen3_vl", "qwen_vl")}) {
    INFO(name);
    GoldenModel golden(name, set, "video");
    test::check_logits(golden);
  }
}

TEST_CASE("qwen_vl in torch: gradients equal transformers") {
  for (const std::string& name : kQwenVl) {
    INFO(name);
    GoldenModel golden(name, "qwen_vl");
    const int compared = test::check_gradients(golden);
    CHECK(compared >= 12);
  }
}

TEST_CASE("qwen_vl in torch: a packed group with pictures equals its sequences") {
  const at::NoGradGuard no_grad;
  for (const std::string& name : kQwenVl) {
    INFO(name);
    GoldenModel golden(name, "qwen_vl");
    TransformerNetwork& model = *golden.model;
    test::TextMaker maker(model.config(), 3);
    const EncodedPrompt prompt = maker.text(3, {{1, 4, 2}});
    const std::vector<EncodedPrompt> responses{maker.text(4), maker.text(2, {{1, 2, 6}})};
    const PackedGroup group = make_packed_group(prompt, responses, model.config());
    const PackedBatch batch = make_packed_batch({&group, 1}, model.config());
    const Tensor states = model.packed_hidden_states(batch, model.encode_images(batch.patches, batch.grids));
    const auto before = std::ssize(prompt.ids);
    std::int64_t begin = before;
    for (const EncodedPrompt& response : responses) {
      const auto count = std::ssize(response.ids);
      const Tensor alone = test::alone(model, test::joined(prompt, response));
      CHECK(largest_difference(states.narrow(0, begin, count), alone.narrow(0, before, count)) < 1e-4);
      begin += count;
    }
  }
}

TEST_CASE("qwen_vl in torch: saved weights have the names that transformers reads, and are read back") {
  for (const std::string& name : kQwenVl) {
    INFO(name);
    const GoldenModel golden(name, "qwen_vl");
    const test::TempFolder folder;
    save_weights(*golden.model, folder / "model.safetensors", WeightType::f32);
    const auto written = SafetensorsFile::open(folder / "model.safetensors");
    const auto by_transformers = SafetensorsFile::open(golden.folder / "model.safetensors");
    REQUIRE(written->tensors().size() == by_transformers->tensors().size());
    for (const auto& [key, view] : by_transformers->tensors()) CHECK(written->tensors().contains(key));
    TransformerNetwork again(golden.model->config());
    load_weights(again, folder.path());
    CHECK(again.named_parameters().size() == golden.model->named_parameters().size());
    for (std::size_t i = 0; i < again.named_parameters().size(); ++i)
      CHECK(again.named_parameters()[i].second.equal(golden.model->named_parameters()[i].second));
  }
}

TEST_CASE("qwen_vl in torch: the engine takes the network's weights") {
  for (const std::string& name : kQwenVl) {
    INFO(name);
    const GoldenModel golden(name, "qwen_vl");
    const EngineWeights weights = engine_weights_of(*golden.model);
    CHECK(weights.vision.deepstack.size() == golden.model->config().vision->deepstack_blocks.size());
    CHECK(bytes_of(weights) == bytes_of(load_engine_weights(golden.folder, golden.model->config(), WeightKind::f32)));
  }
}

}  // namespace
}  // namespace agon::agents
