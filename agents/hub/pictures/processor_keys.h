// agents/hub/pictures/processor_keys.h - reads the keys of preprocessor_config.json and of its neighbour for videos.
// Each function throws Error naming the key and its value where that is not as expected.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/json.h"

namespace agon::agents {

inline constexpr std::int64_t kMostPixels = 1ll << 30;  // above any sensible limit of an area

[[noreturn]] void fail_key(const std::string& source, const std::string& key, const Json& value,
                           const std::string& expected);

// Keep `value` where the key is absent or null. From 1 to `high`.
void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, std::int64_t& value);
void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, int& value);
void read_key(const Json& json, const char* key, const std::string& source, bool& value);

// Of red, green and blue, each at least `low`.
void read_channels(const Json& json, const char* key, double low, const std::string& source,
                   std::array<float, 3>& values);
Json channels_json(const std::array<float, 3>& values);  // decimals as in a file, not as doubles

// Areas: `size` holds them under either pair of names; the file's own min_pixels and max_pixels come first.
struct PixelLimits {
  std::int64_t least = 0, most = 0;
};
void read_pixel_limits(const Json& json, const std::string& source, PixelLimits& limits);

}  // namespace agon::agents
