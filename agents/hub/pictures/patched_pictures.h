// agents/hub/pictures/patched_pictures.h - a cache of pictures and videos that are cut into patches, because the
// prompts of a group and later turns of a conversation show the same ones again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/pictures/video_processor.h"
#include "core/recently_used.h"

namespace agon::agents {

// Thread-safe. Keeps the most recently used pictures, up to `bytes` of patches, and separately up to `bytes` of videos.
class PatchedPictures {
 public:
  explicit PatchedPictures(const ImageProcessorConfig& config, std::int64_t bytes = 128 << 20)
      : config_(config), known_(bytes), videos_(bytes) {}
  std::shared_ptr<const PatchedImage> cut(const Image& image);  // throws as process_image
  // plan: the plan of that video (plan_video).
  std::shared_ptr<const PatchedVideo> cut(const Video& video, const VideoPlan& plan);

 private:
  const ImageProcessorConfig config_;
  std::mutex mutex_;
  RecentlyUsed<PatchedImage> known_;
  RecentlyUsed<PatchedVideo> videos_;
};

}  // namespace agon::agents
