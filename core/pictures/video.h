// core/pictures/video.h - a video: frames of one size, and their positions in the source video.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/hash.h"
#include "core/pictures/image.h"

namespace agon {

// Immutable once it is in a Part.
struct Video {
  std::vector<Image> frames;  // at least one
  std::vector<int> places;    // position of each frame in the source, from 0, ascending
  int source_frames = 0;
  double fps = 24;         // frames a second of the source
  bool is_chosen = false;  // the frames were chosen from the source's, maybe all of them
  // No frames were chosen yet: a model may sample from them. Otherwise it takes all of them.
  bool is_whole() const { return has_all() && !is_chosen; }
  bool has_all() const { return std::ssize(frames) == source_frames; }
  Hash128 hash() const;  // of everything
};

// All frames of a source. Throws Error if there are no frames, frames of several sizes, or a rate that is not above 0.
std::shared_ptr<const Video> make_video(std::vector<Image> frames, double fps);
// Some frames of a source. Also throws Error for places that do not ascend or are not below source_frames.
std::shared_ptr<const Video> make_video(Video video);

}  // namespace agon
