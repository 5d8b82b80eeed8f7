#include "agents/learn/network/transformer_network.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include "core/error.h"
#include "core/text.h"
#include "golden/model.h"
#include "golden/network.h"
#include "tensors.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;
using Catch::Matchers::Contains;
using test::GoldenModel;
using test::largest_difference;

const std::vector<std::string> kModels{"one_picture", "uneven_windows", "wide_head"};

TEST_CASE("qwen2_5_vl: the vision tower equals transformers") {
  for (const std::string& name : kModels) {
    GoldenModel golden(name);
    INFO(name);
    CHECK(largest_difference(golden.model->encode_images(golden["patches"], golden.grids()), golden["images"]) < 1e-4);
  }
}

TEST_CASE("qwen2_5_vl: logits equal transformers") {
  for (const std::string& name : kModels) {
    INFO(name);
    GoldenModel golden(name);
    test::check_logits(golden);
  }
}

TEST_CASE("qwen2_5_vl: gradients equal transformers") {
  for (const std::string& name : kModels) {
    INFO(name);
    GoldenModel golden(name);
    const int compared = test::check_gradients(golden);
    CHECK(compared == 8);
  }
}

TEST_CASE("qwen2_5_vl: a row's numbers do not depend on its neighbours or its padding") {
  GoldenModel golden("uneven_windows");
  const Tensor all = golden.logits();
  // Row 1 has no picture: alone, cut to its length.
  const std::int64_t length = golden.lengths()[1];
  const Tensor hidden = golden.model->hidden_states(golden["ids"].narrow(0, 1, 1).narrow(1, 0, length),
                                                    golden["positions"].narrow(1, 1, 1).narrow(2, 0, length), {},
                                                    std::vector<std::int64_t>{length});
  CHECK(largest_difference(golden.model->logits(hidden)[0], all[1].narrow(0, 0, length)) < 1e-5);
}

TEST_CASE("qwen2_5_vl: pictures of one size are told apart") {
  GoldenModel golden("one_picture");
  const Tensor patches = golden["patches"], images = golden.model->encode_images(patches, golden.grids());
  const Tensor swapped = at::cat({patches.narrow(0, 16, 16), patches.narrow(0, 0, 16)});
  const Tensor other = golden.model->encode_images(swapped, golden.grids());
  CHECK(largest_difference(images.narrow(0, 0, 4), other.narrow(0, 4, 4)) < 1e-5);
  CHECK(largest_difference(images.narrow(0, 0, 4), images.narrow(0, 4, 4)) > 1e-2);
}

TEST_CASE("qwen2_5_vl: initial weights are transformers'") {
  const GoldenModel golden("uneven_windows");
  at::manual_seed(1);
  const auto model = std::make_shared<TransformerNetwork>(golden.model->config());
  for (const auto& [name, value] : model->named_parameters()) {
    INFO(name);
    if (name.ends_with("bias"))
      CHECK(value.abs().max().item<float>() == 0);
    else if (value.dim() == 1)
      CHECK((value - 1).abs().max().item<float>() == 0);
    else
      CHECK(value.std().item<double>() == Approx(0.02).epsilon(0.15));
  }
}

TEST_CASE("qwen2_5_vl: inputs that do not fit are refused") {
  GoldenModel golden("one_picture");
  const Tensor patches = golden["patches"];
  CHECK_THROWS_WITH(golden.model->encode_images(patches.narrow(0, 0, 31), golden.grids()), Contains("pictures:"));
  CHECK_THROWS_WITH(golden.model->encode_images(patches.narrow(1, 0, 95), golden.grids()), Contains("pictures:"));
  CHECK_THROWS_WITH(golden.model->encode_images(patches, std::vector<ImageGrid>{{1, 3, 4}}), Contains("merge blocks"));
  CHECK_THROWS_WITH(golden.model->encode_images(patches, std::vector<ImageGrid>{{0, 4, 4}}), Contains("merge blocks"));
  CHECK_THROWS_WITH(golden.model->hidden_states(golden["ids"], golden["positions"], golden["images"].narrow(0, 0, 7),
                                                golden.lengths()),
                    Contains("8 image tokens in the ids, 7 image embeddings"));
  CHECK_THROWS_WITH(golden.model->hidden_states(golden["ids"], golden["positions"].narrow(2, 0, 3), golden["images"],
                                                golden.lengths()),
                    Contains("positions"));
}

}  // namespace
}  // namespace agon::agents
