// agents/hub/pictures/video_settings.h - the settings of the hub's video processors for Qwen2-VL, Qwen2.5-VL and
// Qwen3-VL: which frames of a video are shown, and how large.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "agents/hub/architecture.h"
#include "core/json.h"
#include "core/pictures/frame_sampling.h"

namespace agon::agents {

// Mean and standard deviation of colours in OpenAI's CLIP, which Qwen2-VL and Qwen2.5-VL use.
inline constexpr std::array<float, 3> kClipMean{0.48145466f, 0.4578275f, 0.40821073f},
    kClipStd{0.26862954f, 0.26130258f, 0.27577711f};

struct VideoSettings {
  // true: `sampling` selects frames of a whole video; false: all are shown. Frames that the caller chose are always all
  // shown.
  bool samples = false;
  FrameSampling sampling;
  std::int64_t min_pixels = 128 * 28 * 28, max_pixels = 28 * 28 * 768;
  bool limits_whole = false;  // limits for all frames together (Qwen3-VL), else per frame
  bool caps_frames = false;   // cap_pixels_per_frame: a frame has at most its share of max_tokens
  int max_tokens = 128'000;   // max_video_tokens: per video, or with limits_whole per frame
  std::array<float, 3> mean = kClipMean, std = kClipStd;  // of the frames' colours
};

// The settings of the tower's family, for a folder without any.
VideoSettings default_video_settings(const Tower& tower);

struct ImageProcessorConfig;
// Parses video_preprocessor_config.json, or preprocessor_config.json in a folder without it. Throws Error naming a key
// that agon does not support, and for patches other than those of the folder's pictures.
VideoSettings parse_video_settings(const Json& json, const std::string& source, const ImageProcessorConfig& images,
                                   const Tower& tower);
Json video_processor_json(const ImageProcessorConfig& images);  // video_preprocessor_config.json

}  // namespace agon::agents
