// core/pictures/frame_sampling.h - chooses the frames of a video that a model is shown, by rate or by number, as
// Hugging Face's video processors do.
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
  int multiple = 2;  // with Spread::shares, the number of frames is a multiple of this
};

// The positions of the chosen frames, ascending. With Spread::shares, a video with fewer than `multiple` frames gives
// all of them; otherwise one with fewer than `count` throws Error. With Spread::ends, a video with fewer than `count`
// frames repeats some. REQUIRES: frames > 0, fps > 0.
std::vector<int> sampled_frames(const FrameSampling& sampling, int frames, double fps);

}  // namespace agon
