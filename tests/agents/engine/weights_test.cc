#include "agents/engine/weights.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "golden/checkpoint.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using Catch::Contains;

TEST_CASE("engine weights: F32, BF16 and F16 files, tied or not, come as fp32") {
  for (const char* name : {"one_picture", "uneven_windows", "wide_head"}) {
    const auto model = golden_checkpoint(name);
    const EngineWeights weights = load_engine_weights(model.folder, model.config);
    CHECK(weights.layers.size() == 2);
    CHECK(weights.vision.blocks.size() == 3);
    CHECK(weights.lm_head->outputs == 48);
    // All weights were rounded to bfloat16 before they were stored, so no type is lossy except F16 for small values.
    CHECK(weights.embedding->outputs == 48);
    std::vector<float> row(static_cast<std::size_t>(model.config.text.hidden_size));
    for (int id = 0; id < 48; ++id) {
      decode_row(*weights.embedding, id, row.data());
      for (const float value : row) CHECK(std::abs(value) < 2.0f);
    }
  }
}

TEST_CASE("engine weights: one error lists all that does not fit the config") {
  auto model = golden_checkpoint("one_picture");
  model.config.text.num_hidden_layers = 3;
  model.config.text.intermediate_size += 1;
  CHECK_THROWS_WITH(load_engine_weights(model.folder, model.config),
                    Contains("missing: model.layers.2.self_attn.q_proj.weight") &&
                        Contains("model.layers.0.mlp.gate_proj.weight: shape [40, 32], the config asks for [41, 32]") &&
                        Contains("model.layers.1.mlp.down_proj.weight"));
  model = golden_checkpoint("one_picture");
  model.config.vision->depth = 2;
  CHECK_THROWS_WITH(load_engine_weights(model.folder, model.config),
                    Contains("not expected: visual.blocks.2.norm1.weight"));
}

TEST_CASE("engine weights: what would not load is told without loading it") {
  auto model = golden_checkpoint("one_picture");
  CHECK_NOTHROW(check_engine_weights(model.folder, model.config));
  model.config.text.intermediate_size += 1;
  CHECK_THROWS_WITH(check_engine_weights(model.folder, model.config),
                    Contains("model.layers.0.mlp.gate_proj.weight: shape [40, 32], the config asks for [41, 32]"));
}

TEST_CASE("engine weights: a config that asks for millions of layers ends soon") {
  auto model = golden_checkpoint("one_picture");
  model.config.text.num_hidden_layers = 2'000'000'000;
  CHECK_THROWS_AS(load_engine_weights(model.folder, model.config), Error);
}
