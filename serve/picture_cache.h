// serve/picture_cache.h - keeps the pictures that requests showed last: each turn of a conversation, and each step of a
// search, sends the same ones again, and each would go through a decoder's process.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "core/pictures/image.h"
#include "core/recently_used.h"

namespace agon::serve {

// Pictures by the data URL that they were decoded from. The text is kept too and compared, so that no sender can put a
// picture in another's place. Thread-safe.
class PictureCache {
 public:
  // A picture that takes more than a quarter of the bytes, its URL included, is not kept.
  explicit PictureCache(std::int64_t bytes = 64 << 20) : most_(bytes / 4), known_(bytes) {}

  Image find(std::string_view url);  // empty: not there
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
