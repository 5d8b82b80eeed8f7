// agents/hub/patched_pictures.h - a cache of pictures cut into patches: the prompts of a group, and later turns of a
// conversation, show the same pictures again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "agents/hub/image_processor.h"
#include "core/recently_used.h"

namespace agon::agents {

// Thread-safe. Keeps the most recently used pictures, up to `bytes` of patches.
class PatchedPictures {
 public:
  explicit PatchedPictures(const ImageProcessorConfig& config, std::int64_t bytes = 128 << 20)
      : config_(config), known_(bytes) {}
  std::shared_ptr<const PatchedImage> cut(const Image& image);  // throws as process_image

 private:
  const ImageProcessorConfig config_;
  std::mutex mutex_;
  RecentlyUsed<PatchedImage> known_;
};

}  // namespace agon::agents
