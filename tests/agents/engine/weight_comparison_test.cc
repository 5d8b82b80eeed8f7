#include "agents/engine/weight_comparison.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "paths.h"

using namespace agon;
using namespace agon::agents;

TEST_CASE("weight comparison: f32 equals itself, fewer bits are further away and take less") {
  const ModelFolder model = open_model_folder(agon::test::source_path("models/agon-tiny"));
  constexpr WeightKind kKinds[] = {WeightKind::f32, WeightKind::bf16, WeightKind::q8, WeightKind::q4};
  int models = 0;
  const std::vector<WeightDifference> found = compare_weights(model, kKinds, {}, [&] { ++models; });
  CHECK(models == 5);
  REQUIRE(found.size() == 4);
  CHECK((found[0].mean == 0 && found[0].largest == 0 && found[0].equal_greedy == 1));
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].weights == kKinds[i]);
    CHECK(found[i].tokens == found[0].tokens);
    CHECK(found[i].tokens > 300);
    CHECK(found[i].mean <= found[i].largest);
    CHECK(found[i].equal_greedy <= 1);
    if (i > 0) {
      CHECK(found[i].mean > 0);
      CHECK(found[i].weight_bytes < found[i - 1].weight_bytes);
      CHECK(found[i].equal_greedy > 0.5);
    }
  }
  CHECK(found[3].mean > found[2].mean);
  CHECK(found[3].equal_greedy < found[1].equal_greedy);
}

TEST_CASE("weight comparison: keys and values of fewer bits differ from f32, those of f32 do not") {
  const ModelFolder model = open_model_folder(agon::test::source_path("models/agon-tiny"));
  constexpr WeightKind kFloats[] = {WeightKind::f32};
  const auto with = [&](kernels::KeyType keys) { return compare_weights(model, kFloats, {.keys = keys}, [] {}).at(0); };
  CHECK(with(kernels::KeyType::f32).largest == 0);
  for (const kernels::KeyType keys : {kernels::KeyType::bf16, kernels::KeyType::q8}) {
    CHECK(with(keys).mean > 0);
    CHECK(with(keys).mean < 0.02);
  }
}
