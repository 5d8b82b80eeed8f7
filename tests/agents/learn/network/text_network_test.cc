// Compares the torch network of text models with transformers (script/golden.d/text_models.py).
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include "agents/hub/model_folder.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/transformer_network.h"
#include "core/error.h"
#include "core/text.h"
#include "paths.h"
#include "torch_catch.h"

namespace agon::agents {
namespace {

using at::Tensor;

const std::string kGolden = agon::test::golden_path("text_models");

Json golden_models() { return Json::parse(read_file(kGolden + "/expected.json"))["models"]; }

Tensor row_of(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong).unsqueeze(0); }

TEST_CASE("text models in torch: log-probabilities equal transformers'") {
  const Json models = golden_models();
  for (const auto& [name, cases] : models.items()) {
    const ModelFolder folder = open_model_folder(kGolden + "/" + name);
    TransformerNetwork model(folder.config);
    load_weights(model, folder.path);
    for (const Json& expected : cases) {
      CAPTURE(name, expected["prompt"]);
      auto ids = expected["prompt_ids"].get<std::vector<std::int64_t>>();
      const auto prompt = std::ssize(ids);
      for (const std::int64_t id : expected["ids"].get<std::vector<std::int64_t>>()) ids.push_back(id);
      std::vector<std::int64_t> places(ids.size());
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(i);
      const Tensor positions = row_of(places).unsqueeze(0).expand({3, 1, std::ssize(ids)});
      const std::vector<std::int64_t> lengths{std::ssize(ids)};
      const Tensor logits = model.logits(model.hidden_states(row_of(ids), positions, {}, lengths))[0];
      const Tensor logprobs = at::log_softmax(logits, -1);
      const auto wanted = expected["logprobs"].get<std::vector<double>>();
      for (std::size_t t = 0; t < wanted.size(); ++t) {
        const auto at = prompt + static_cast<std::int64_t>(t);
        CHECK(logprobs[at - 1][ids[static_cast<std::size_t>(at)]].item<double>() == Approx(wanted[t]).margin(1e-4));
      }
    }
  }
}

}  // namespace
}  // namespace agon::agents
