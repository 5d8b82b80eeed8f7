#include "agents/hub/pictures/patched_pictures.h"

namespace agon::agents {

std::shared_ptr<const PatchedImage> PatchedPictures::cut(const Image& image) {
  const Hash128 hash = image.empty() ? Hash128{} : image.hash();
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_.find(hash)) return known;
  }
  auto fresh =
      std::make_shared<const PatchedImage>(process_image(image, config_));  // without the lock, because it is slow
  const std::lock_guard lock(mutex_);
  known_.add(hash, fresh, static_cast<std::int64_t>(fresh->patches.size() * sizeof(float)));
  return fresh;
}

std::shared_ptr<const PatchedVideo> PatchedPictures::cut(const Video& video, const VideoPlan& plan) {
  const Hash128 hash = video.hash();
  {
    const std::lock_guard lock(mutex_);
    if (auto known = videos_.find(hash)) return known;
  }
  auto fresh = std::make_shared<const PatchedVideo>(cut_video(video, plan, config_));  // likewise
  std::size_t values = 0;
  for (const auto& part : fresh->parts) values += part->patches.size();
  const std::lock_guard lock(mutex_);
  videos_.add(hash, fresh, static_cast<std::int64_t>(values * sizeof(float)));
  return fresh;
}

}  // namespace agon::agents
