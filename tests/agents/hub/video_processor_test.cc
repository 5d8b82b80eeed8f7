// Compares videos with transformers' processors (script/golden.d/video.py).
#include "agents/hub/pictures/video_processor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "golden/video.h"
#include "paths.h"

using agon::Json;
using agon::make_video;
using namespace agon::agents;
using agon::test::golden_videos;
using agon::test::video_of;
using Catch::Matchers::Contains;

namespace {

const Tower& tower_of(const Json& settings) {
  return settings["video_processor_type"] == "Qwen3VLVideoProcessor" ? kQwen3Tower : kQwen25Tower;
}

ImageProcessorConfig images_of(int patch_size) {
  ImageProcessorConfig images;
  images.patch_size = patch_size;
  return images;
}

VideoSettings parse_video(const Json& json, const ImageProcessorConfig& images = {}, const Tower& tower = kQwen2Tower) {
  return parse_video_settings(json, "v.json", images, tower);
}

VisionConfig vision_of(const Tower& tower) {
  VisionConfig vision;
  vision.tower = &tower;
  return vision;
}

}  // namespace

TEST_CASE("the frames that are shown are those that transformers samples, by rate and by number") {
  const Json rows = golden_videos()["sampling"];
  REQUIRE(rows.size() > 150);
  for (const Json& row : rows) {
    INFO(row.dump());
    const VideoSettings settings = parse_video(row["settings"], {}, tower_of(row["settings"]));
    CHECK(agon::sampled_frames(settings.sampling, row["frames"], row["fps"]) == row["places"].get<std::vector<int>>());
  }
}

TEST_CASE("more frames than a video has are refused where they are shares of it, and repeat where they are not") {
  agon::FrameSampling sampling{.count = 6};
  CHECK_THROWS_WITH(agon::sampled_frames(sampling, 5, 24), Contains("6 frames are to be shown, and it has 5"));
  sampling.spread = agon::FrameSampling::Spread::ends;
  CHECK(agon::sampled_frames(sampling, 3, 24) == std::vector{0, 0, 1, 1, 2, 2});
  sampling.count = 1;
  CHECK(agon::sampled_frames(sampling, 3, 24) == std::vector{0});
  CHECK(agon::sampled_frames({}, 1, 24) == std::vector{0});
}

TEST_CASE("the size of frames is that of transformers, with limits on each, on all, and on tokens") {
  const Json rows = golden_videos()["sizes"];
  REQUIRE(rows.size() > 80);
  for (const Json& row : rows) {
    INFO(row.dump());
    const Tower& tower = tower_of(row[0]);
    ImageProcessorConfig images = images_of(row[1]);
    images.video = parse_video(row[0], images, tower);
    images.video.samples = false;
    const agon::Image frame(row[3], row[4],
                            std::vector<std::uint8_t>(row[3].get<std::size_t>() * row[4].get<std::size_t>() * 3));
    const auto video = make_video(std::vector(row[2].get<std::size_t>(), frame), 24);
    CHECK(plan_video(*video, images, vision_of(tower)).size == Size{row[5], row[6]});
  }
}

TEST_CASE("patches of videos equal transformers', with an odd frame repeated") {
  for (const Json& row : golden_videos()["patches"]) {
    INFO(row["settings"].dump() << row["video"].dump());
    const Tower& tower = tower_of(row["settings"]);
    ImageProcessorConfig images = images_of(row["patch_size"]);
    images.mean = row["image_mean"].get<std::array<float, 3>>();
    images.std = row["image_std"].get<std::array<float, 3>>();
    images.video = parse_video(row["settings"], images, tower);
    const auto video = video_of(row["video"]);
    const VideoPlan plan = plan_video(*video, images, vision_of(tower));
    CHECK(Json({plan.grid.t, plan.grid.h, plan.grid.w}) == row["grid"]);
    const PatchedVideo cut = cut_video(*video, plan, images);
    std::vector<float> patches;
    for (const auto& part : cut.parts) patches.insert(patches.end(), part->patches.begin(), part->patches.end());
    const auto width = row["shape"][1].get<std::size_t>();
    REQUIRE(patches.size() == row["shape"][0].get<std::size_t>() * width);
    for (std::size_t i = 0; i < row["every_97th"].size(); ++i)
      CHECK(std::abs(patches[97 * i] - row["every_97th"][i].get<double>()) < 2e-6);
    for (std::size_t i = 0; i < row["row_sums"].size(); ++i) {
      const auto begin = patches.begin() + static_cast<std::ptrdiff_t>(i * width);
      const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(width), 0.0);
      CHECK(std::abs(sum - row["row_sums"][i].get<double>()) < 1e-3);
    }
  }
}

TEST_CASE("with timestamps every pair of frames is a part, else the video is one") {
  const auto video = video_of({{"frames", 5}, {"width", 64}, {"height", 64}, {"fps", 2}});
  ImageProcessorConfig images;
  const PatchedVideo whole = cut_video(*video, plan_video(*video, images, vision_of(kQwen25Tower)), images);
  REQUIRE(whole.parts.size() == 1);
  CHECK(whole.parts[0]->grid.t == 3);
  CHECK(whole.parts[0]->grid.time_step == 4);  // a second each, four positions a second
  const VideoPlan plan = plan_video(*video, images, vision_of(kQwen3Tower));
  CHECK(plan.timestamps == std::vector<std::string>{"<0.2 seconds>", "<1.2 seconds>", "<2.0 seconds>"});
  const PatchedVideo apart = cut_video(*video, plan, images);
  REQUIRE(apart.parts.size() == 3);
  decltype(PatchedImage::patches) joined;
  for (const auto& part : apart.parts) joined.insert(joined.end(), part->patches.begin(), part->patches.end());
  CHECK(joined == whole.parts[0]->patches);
  CHECK(apart.parts[0]->hash != apart.parts[1]->hash);
  CHECK(apart.parts[0]->grid == ImageGrid{1, whole.parts[0]->grid.h, whole.parts[0]->grid.w});
}

TEST_CASE("frames that were chosen already are shown as they are") {
  auto video = *video_of({{"frames", 6}, {"width", 28}, {"height", 28}, {"fps", 30}});
  ImageProcessorConfig images;
  images.video.samples = true;
  images.video.sampling.count = 2;
  CHECK(plan_video(video, images, vision_of(kQwen2Tower)).frames == std::vector{0, 3});
  video.source_frames = 300;
  CHECK(plan_video(video, images, vision_of(kQwen2Tower)).frames.size() == 6);
}

TEST_CASE("video settings: a folder's own, those of its family, and those of its pictures") {
  CHECK(default_video_settings(kQwen25Tower).max_pixels == 28 * 28 * 768);
  CHECK_FALSE(default_video_settings(kQwen25Tower).samples);
  const VideoSettings newest = default_video_settings(kQwen3Tower);
  CHECK((newest.samples && newest.limits_whole && newest.min_pixels == 128 * 32 * 32));
  CHECK(parse_video({{"max_pixels", 12845056}, {"min_pixels", 3136}, {"image_processor_type", "Qwen2VLImageProcessor"}})
            .max_pixels == 12845056);
  const VideoSettings third = parse_video({{"video_processor_type", "Qwen3VLVideoProcessor"},
                                           {"min_pixels", 3136},
                                           {"max_pixels", 6272},
                                           {"size", {{"shortest_edge", 4096}, {"longest_edge", 40000}}}});
  CHECK((third.min_pixels == 4096 && third.max_pixels == 40000));  // as transformers reads them
  CHECK(parse_video({{"video_processor_type", "Qwen2VLVideoProcessor"}}).mean == kClipMean);
  CHECK(parse_video({{"image_processor_type", "Qwen2VLImageProcessorFast"}}, {}, kQwen3Tower).limits_whole);
  CHECK_FALSE(parse_video({{"image_processor_type", "Qwen2VLImageProcessor"}}, {}, kQwen3Tower).limits_whole);
  CHECK(third.mean == std::array{0.5f, 0.5f, 0.5f});  // the video processor's, not the picture processor's
  CHECK(parse_video({{"image_mean", {0.25, 0.5, 0.75}}}).mean == std::array{0.25f, 0.5f, 0.75f});
  ImageProcessorConfig images;
  images.video = parse_video({{"video_processor_type", "Qwen3VLVideoProcessor"}, {"num_frames", 7}, {"max_frames", 9}});
  const VideoSettings again = parse_video(video_processor_json(images), images);
  CHECK((again.limits_whole && again.samples && again.sampling.count == 7 && again.sampling.max_frames == 9));
  images.video.sampling = {.fps = 0.5};
  CHECK(parse_video(video_processor_json(images), images).sampling.fps == 0.5);
}

TEST_CASE("a video_preprocessor_config.json that agon cannot follow is refused with the key") {
  const auto refused = [](const Json& json, const std::string& key) {
    CHECK_THROWS_WITH(parse_video(json), Contains("v.json") && Contains(key));
  };
  refused(Json::array(), "JSON object");
  refused({{"video_processor_type", "InternVLVideoProcessor"}}, "InternVLVideoProcessor");
  refused({{"fps", 0}}, "fps");
  refused({{"fps", "2"}}, "fps");
  refused({{"fps", 2}, {"num_frames", 4}}, "num_frames");
  refused({{"num_frames", -1}}, "num_frames");
  refused({{"min_frames", 0}}, "min_frames");
  refused({{"do_sample_frames", 1}}, "do_sample_frames");
  refused({{"cap_pixels_per_frame", "yes"}}, "cap_pixels_per_frame");
  refused({{"patch_size", 16}}, "patch_size");
  refused({{"image_mean", {0.5, 0.5}}}, "image_mean");
  refused({{"resample", 2}}, "resample");
  refused({{"size", {{"shortest_edge", 9}, {"longest_edge", 8}}}}, "above");
}
