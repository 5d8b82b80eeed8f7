#include "serve/picture_cache.h"

#include <memory>

namespace agon::serve {
namespace {

Hash128 hash_of(std::string_view url) {
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(url.data()), url.size()});
}

}  // namespace

Image PictureCache::find(std::string_view url) {
  const Hash128 hash = hash_of(url);
  std::shared_ptr<const Known> known;
  {
    const std::lock_guard lock(mutex_);
    known = known_.find(hash);
  }
  return known && known->url == url ? known->picture : Image();
}

void PictureCache::add(std::string_view url, const Image& picture) {
  const std::int64_t bytes = std::ssize(url) + std::ssize(picture.rgb()) + std::ssize(picture.jpeg());
  if (bytes > most_) return;
  auto known = std::make_shared<const Known>(Known{std::string(url), picture});
  const std::lock_guard lock(mutex_);
  known_.add(hash_of(url), std::move(known), bytes);
}

}  // namespace agon::serve
