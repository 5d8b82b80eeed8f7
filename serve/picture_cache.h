// serve/picture_cache.h - a cache of the pictures that recent requests showed. Each turn of a conversation and each
// step of a search sends the same pictures again, and decoding one takes a separate process.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core/pictures/image.h"
#include "core/recently_used.h"

namespace agon::serve {

// Maps data URLs to their decoded pictures. It keeps and compares the whole URL, so that no client can put a picture in
// the place of another. Thread-safe.
class PictureCache {
 public:
  // bytes: capacity. A picture that takes more than a quarter of it, its URL included, is not kept.
  explicit PictureCache(std::int64_t bytes = 64 << 20) : most_(bytes / 4), known_(bytes) {}

  Image find(std::string_view url);  // empty: not in the cache
  void add(std::string_view url, const Image& picture);

 private:
  struct Known {
    std::string url;
    Image picture;
  };
  const std::int64_t most_;
  std::mutex mutex_;
  RecentlyUsed<Known> known_;
};

}  // namespace agon::serve
