// tests/support/golden/video.h - the videos of script/golden.d/video.py; the frames are drawn here in the same way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/json.h"
#include "core/pictures/video.h"
#include "core/text.h"
#include "paths.h"

namespace agon::test {

inline const Json& golden_videos() {
  static const Json kExpected = Json::parse(read_file(golden_path("video/expected.json")));
  return kExpected;
}

inline Image golden_frame(int width, int height, int seed) {
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c)
        rgb.push_back(
            static_cast<std::uint8_t>((x * (seed + 3) + y * 5 + c * 40 + (x / 7 + y / 5 + seed) % 3 * 60) % 256));
  return Image(width, height, std::move(rgb));
}

inline std::shared_ptr<const Video> video_of(const Json& video) {
  std::vector<Image> frames;
  for (int i = 0; i < video["frames"].get<int>(); ++i)
    frames.push_back(golden_frame(video["width"], video["height"], i));
  return make_video(std::move(frames), video.value("fps", 24.0));
}

}  // namespace agon::test
