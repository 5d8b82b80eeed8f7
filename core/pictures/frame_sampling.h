// core/pictures/frame_sampling.h - which frames of a video are shown: by their rate or their number, as the hub's video
// processors choose them.
#pragma once

#include <optional>
#include <vector>

namespace agon {

struct FrameSampling {
  enum class Spread {
    shares,  // Qwen2-VL, Qwen2.5-VL: the video is cut into equal shares, and the first frame of each is shown
    ends,    // Qwen3-VL: evenly from the first frame to the last
  };
  Spread spread = Spread::shares;
  std::optional<int> count;  // of frames, instead of a rate
  double fps = 2;            // frames shown a second, within the limits
  int min_frames = 4, max_frames = 768;
  int multiple = 2;  // with shares their number is a multiple of this
};

// The places of those frames, ascending; of a video with fewer frames than `multiple` all. Throws Error for a count
// that the video does not have, with shares; with ends frames repeat. REQUIRES: frames > 0, fps > 0.
std::vector<int> sampled_frames(const FrameSampling& sampling, int frames, double fps);

}  // namespace agon
