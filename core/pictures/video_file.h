// core/pictures/video_file.h - reads chosen frames of a video file, decoded in a separate process (agon-decode-video).
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

// MP4, QuickTime, WebM, Matroska or AVI. `sampling` chooses the frames by the number of frames and the rate that the
// file states (24 a second if it states none). A file that ends early gives fewer. Throws Error for anything else, for
// a damaged file, and for one past the limits. Thread-safe.
std::shared_ptr<const Video> load_video(const std::filesystem::path& path, const FrameSampling& sampling,
                                        const VideoLimits& limits = {});
// Throws the Error of load_video for a file that is absent or of another kind; all other damage shows only at decoding.
void check_video(const std::filesystem::path& path, const VideoLimits& limits = {});

}  // namespace agon
