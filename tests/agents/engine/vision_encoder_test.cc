#include "agents/engine/vision_encoder.h"

#include <catch2/catch.hpp>

#include "golden/checkpoint.h"
#include "golden/engine.h"

using namespace agon::agents;
using agon::test::golden_checkpoint;

TEST_CASE("vision encoder: equal to transformers, window and full attention, all sizes") {
  agon::test::check_vision_tower(golden_checkpoint(GENERATE("one_picture", "uneven_windows", "wide_head")));
}

TEST_CASE("vision encoder: windows cover each unit once, row by row, the last ones smaller") {
  VisionConfig config;
  config.patch_size = 14;
  config.window_size = 56;  // 2 x 2 merged units
  const auto windows = window_segments({1, 6, 10}, config);
  REQUIRE(windows.size() == 6);
  CHECK(windows[0] == PatchSegment{0, 4, 20, 24});
  CHECK(windows[2] == PatchSegment{16, 36});
  CHECK(windows[5] == PatchSegment{56});
  const auto frames = frame_segments({2, 2, 4}, config);
  CHECK(frames == std::vector<PatchSegment>{{0, 4}, {8, 12}});
}
