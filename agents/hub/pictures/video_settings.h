// agents/hub/pictures/video_settings.h - what the hub's video processors of Qwen2-VL, Qwen2.5-VL and Qwen3-VL are told:
// which frames are shown, and how large.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "agents/hub/architecture.h"
#include "core/json.h"
#include "core/pictures/frame_sampling.h"

namespace agon::agents {

// The colours of OpenAI's CLIP, which Qwen2-VL and Qwen2.5-VL have.
inline constexpr std::array<float, 3> kClipMean{0.48145466f, 0.4578275f, 0.40821073f},
    kClipStd{0.26862954f, 0.26130258f, 0.27577711f};

struct VideoSettings {
  bool samples = false;  // of a whole video `sampling` is shown, else all; chosen frames are shown as they are
  FrameSampling sampling;
  std::int64_t min_pixels = 128 * 28 * 28, max_pixels = 28 * 28 * 768;
  bool limits_whole = false;  // the limits are of all frames together (Qwen3-VL), else of each
  bool caps_frames = false;   // cap_pixels_per_frame: a frame has at most its share of max_tokens
  int max_tokens = 128'000;   // max_video_tokens: of the whole video, or with limits_whole of a frame
  std::array<float, 3> mean = kClipMean, std = kClipStd;  // of the colours of frames
};

// Those of the tower's family where a folder says nothing.
VideoSettings default_video_settings(const Tower& tower);

struct ImageProcessorConfig;
// From video_preprocessor_config.json, or preprocessor_config.json where that stands alone. Throws Error naming the key
// that agon cannot follow; frames have the patches of the folder's pictures.
VideoSettings parse_video_settings(const Json& json, const std::string& source, const ImageProcessorConfig& images,
                                   const Tower& tower);
Json video_processor_json(const ImageProcessorConfig& images);  // video_preprocessor_config.json

}  // namespace agon::agents
