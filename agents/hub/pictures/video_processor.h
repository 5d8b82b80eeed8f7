// agents/hub/pictures/video_processor.h - cuts a video into patches as the hub's Qwen2VLVideoProcessor and
// Qwen3VLVideoProcessor do: frames are chosen, resized as torchvision does, and cut so that each patch
// spans temporal_patch_size of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "core/pictures/video.h"

namespace agon::agents {

// The frames of a video that the model sees, and their size.
struct VideoPlan {
  std::vector<int> frames;  // indices of the video's frames; a multiple of temporal_patch_size, the last may repeat
  Size size;                // of each frame
  ImageGrid grid;           // of the whole video
  // With VideoTime::timestamps, one per temporal patch: "<0.3 seconds>", the mean of its first and last frame. Else
  // empty.
  std::vector<std::string> timestamps;
};
// Throws Error for a video that cannot be processed with these settings.
VideoPlan plan_video(const Video& video, const ImageProcessorConfig& config, const VisionConfig& vision);

// A video in patches: one picture of many frames, or with timestamps one picture per temporal patch.
struct PatchedVideo {
  std::vector<std::shared_ptr<const PatchedImage>> parts;
  std::vector<std::string> timestamps;  // one per part, or empty
};
PatchedVideo cut_video(const Video& video, const VideoPlan& plan, const ImageProcessorConfig& config);

}  // namespace agon::agents
