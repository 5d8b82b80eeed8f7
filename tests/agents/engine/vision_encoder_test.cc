#include "agents/engine/vision_encoder.h"

#include <cmath>

#include "agents/engine/compute_pool.h"
#include "golden_checkpoint.h"
#include "kernel_testing.h"

using namespace agon::agents;
using agon::test::golden_checkpoint;

TEST_CASE("vision encoder: equal to transformers, window and full attention, all sizes") {
  const auto model = golden_checkpoint(GENERATE("one_picture", "uneven_windows", "wide_head"));
  const EngineWeights weights = load_engine_weights(model.folder, model.config, WeightKind::f32);
  std::vector<float> all;
  for (const auto& image : model.images()) {
    const auto embeddings = encode_image(weights.vision, *model.config.vision, *image, {});
    all.insert(all.end(), embeddings.begin(), embeddings.end());
    ComputePool threads(3);
    const auto again = encode_image(weights.vision, *model.config.vision, *image, threads.parallel());
    CHECK(agon::test::same_bits(again.data(), embeddings.data(), embeddings.size()));
  }
  agon::test::check_close(all, model.values<float>("images"), 1e-4, 1e-4);
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
