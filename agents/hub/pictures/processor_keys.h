// agents/hub/pictures/processor_keys.h - reads single keys of preprocessor_config.json and of
// video_preprocessor_config.json. Each function throws Error naming the key and its value if that is not as expected.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/json.h"

namespace agon::agents {

inline constexpr std::int64_t kMostPixels = 1ll << 30;  // above any sensible area limit

[[noreturn]] void fail_key(const std::string& source, const std::string& key, const Json& value,
                           const std::string& expected);

// Keep `value` if the key is absent or null. Numbers must be from 1 to `high`.
void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, std::int64_t& value);
void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, int& value);
void read_key(const Json& json, const char* key, const std::string& source, bool& value);

// Reads values for red, green and blue, each at least `low`.
void read_channels(const Json& json, const char* key, double low, const std::string& source,
                   std::array<float, 3>& values);
Json channels_json(const std::array<float, 3>& values);  // short decimals, not the floats' exact values as doubles

// Limits of a picture's area. `size` holds them as min_pixels and max_pixels, or as shortest_edge and longest_edge;
// top-level min_pixels and max_pixels take precedence.
struct PixelLimits {
  std::int64_t least = 0, most = 0;
};
void read_pixel_limits(const Json& json, const std::string& source, PixelLimits& limits);

}  // namespace agon::agents
