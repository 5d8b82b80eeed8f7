// agents/hub/pictures/video_processor.h - cuts a video into patches as the hub's Qwen2VLVideoProcessor and
// Qwen3VLVideoProcessor do: frames are chosen, resized as torchvision does, and cut together, temporal_patch_size of
// them to a patch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "core/pictures/video.h"

namespace agon::agents {

// What is shown of a video.
struct VideoPlan {
  std::vector<int> frames;  // indices among the video's own; a multiple of temporal_patch_size, the last may repeat
  Size size;                // of each
  ImageGrid grid;           // of the whole video
  // VideoTime::timestamps: of each temporal patch, "<0.3 seconds>", the mean of its first and last frame. Else none.
  std::vector<std::string> timestamps;
};
// Throws Error for a video that the settings cannot take.
VideoPlan plan_video(const Video& video, const ImageProcessorConfig& config, const VisionConfig& vision);

// A video in patches: one picture of many frames, or, with timestamps, one of each temporal patch.
struct PatchedVideo {
  std::vector<std::shared_ptr<const PatchedImage>> parts;
  std::vector<std::string> timestamps;  // of each part, or none
};
PatchedVideo cut_video(const Video& video, const VideoPlan& plan, const ImageProcessorConfig& config);

}  // namespace agon::agents
