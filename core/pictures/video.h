// core/pictures/video.h - a video: pictures of one size, and where in their source they stand.
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
  std::vector<int> places;    // of each frame among those of the source, ascending from 0
  int source_frames = 0;
  double fps = 24;         // frames a second of the source
  bool is_chosen = false;  // somebody has chosen among the source's frames, and may have taken all
  // Nobody has: a model shows some of the frames. Else it shows all.
  bool is_whole() const { return has_all() && !is_chosen; }
  bool has_all() const { return std::ssize(frames) == source_frames; }
  Hash128 hash() const;  // of everything
};

// All frames of a source. Throws Error for no frame, frames of several sizes, and a rate that is not above 0.
std::shared_ptr<const Video> make_video(std::vector<Image> frames, double fps);
// Some of them. Throws Error also for places that do not ascend or are not below source_frames.
std::shared_ptr<const Video> make_video(Video video);

}  // namespace agon
