#include "agents/engine/weight_packer.h"

#include <catch2/catch.hpp>

#include "agents/engine/cpu_backend.h"
#include "agents/engine/engine.h"
#include "golden/checkpoint.h"

using namespace agon;
using namespace agon::agents;
using agon::test::golden_checkpoint;
using agon::test::GoldenCheckpoint;
using agon::test::LetterTokenizer;

namespace {

struct ViewCount {
  int views = 0, packed = 0;
};

ViewCount count_views(const EngineWeights& weights) {
  ViewCount count;
  for_each_product(weights, [&](const TypedLinear& linear) {
    for (const LinearPart& part : linear.parts)
      if (const auto* const weight = std::get_if<kernels::BfloatLinear>(&part); weight && weight->rows) {
        ++count.views;
        if (weight->pending->made * 16 >= weight->outputs) ++count.packed;
      }
  });
  return count;
}

// A checkpoint of BF16 weights; even so the engine keeps the first linear of its vision tower in fp32.
GoldenCheckpoint bfloat_checkpoint() { return golden_checkpoint("uneven_windows"); }

}  // namespace

TEST_CASE("weight packer: packs every view of a file, where the processor computes with views") {
  const GoldenCheckpoint model = bfloat_checkpoint();
  const EngineWeights weights = load_engine_weights(model.folder, model.config);
  const auto layers = static_cast<int>(weights.layers.size()), blocks = static_cast<int>(weights.vision.blocks.size());
  CHECK(count_views(weights).views == (kernels::views_bfloat_rows() ? 7 * layers + 5 * blocks + 3 : 0));
  CHECK(count_views(weights).packed == 0);
  WeightPacker packer(weights);
  packer.wait();
  CHECK(count_views(weights).packed == count_views(weights).views);
}

TEST_CASE("weight packer: may end before it is through") {
  const GoldenCheckpoint model = bfloat_checkpoint();
  for (int round = 0; round < 20; ++round) {
    const EngineWeights weights = load_engine_weights(model.folder, model.config);
    const WeightPacker packer(weights);
  }
}

TEST_CASE("weight packer: weights that memory has no room for stay as they are") {
  const std::uint8_t row[2] = {};
  TypedLinear head;
  head.add(kernels::view_bfloat_linear(1 << 30, 1 << 30, nullptr, row));
  EngineWeights weights;
  weights.lm_head = std::make_shared<const TypedLinear>(std::move(head));
  weights.files.push_back(weights.lm_head);
  WeightPacker packer(weights);
  packer.wait();
  CHECK(count_views(weights).views == 1);
  CHECK(std::get<kernels::BfloatLinear>(weights.lm_head->parts.at(0)).pending->made == 0);
}

TEST_CASE("weight packer: an engine gives the same bits before and after it, also with new weights") {
  const GoldenCheckpoint model = bfloat_checkpoint();
  auto backend = std::make_unique<CpuBackend>(load_engine_weights(model.folder, model.config), model.config);
  ModelBackend& settling = *backend;
  Engine engine(std::move(backend), model.config, std::make_shared<LetterTokenizer>(), {});
  GenerationRequest request{model.prompt(0), 3, {}};
  request.sampling.max_tokens = 12;
  const auto logprobs = [&] { return engine.generate({request}).at(2).logprobs; };
  const auto first = logprobs();
  settling.settle();
  CHECK(logprobs() == first);
  engine.set_weights(load_engine_weights(model.folder, model.config));
  CHECK(logprobs() == first);
  settling.settle();
  CHECK(logprobs() == first);
}
