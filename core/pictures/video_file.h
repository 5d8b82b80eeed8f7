// core/pictures/video_file.h - chosen frames of a video file, decoded in a process of its own (agon-decode-video).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/pictures/frame_sampling.h"
#include "core/pictures/video.h"

namespace agon {

struct VideoLimits {
  int max_side = 8192;                 // pixels
  int max_frames = 4096;               // shown
  std::int64_t max_bytes = 2ll << 30;  // of the pixels of all frames shown
  std::int64_t max_file_bytes = 8ll << 30;
  std::int64_t max_decode_bytes = 1ll << 30;  // memory of the decoder
  double cpu_seconds = 600;
};

// MP4, QuickTime, WebM, Matroska or AVI. The frames have the places that `sampling` chooses by the file's own number of
// frames and rate (24 a second where it names none); a file that ends before it said so has fewer. Throws Error for
// anything else, for a damaged file, and for one past the limits. Thread-safe.
std::shared_ptr<const Video> load_video(const std::filesystem::path& path, const FrameSampling& sampling,
                                        const VideoLimits& limits = {});
// Throws what load_video would for a file that is absent or of another kind; all other damage shows only at decoding.
void check_video(const std::filesystem::path& path, const VideoLimits& limits = {});

}  // namespace agon
