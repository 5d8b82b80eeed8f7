#include "agents/hub/pictures/processor_keys.h"

#include <algorithm>

#include "core/error.h"

namespace agon::agents {
namespace {

const Json* find_key(const Json& json, const char* key) {
  return json.contains(key) && !json.at(key).is_null() ? &json.at(key) : nullptr;
}

}  // namespace

void fail_key(const std::string& source, const std::string& key, const Json& value, const std::string& expected) {
  throw Error("image processor {}: '{}' is {}, expected {}", source, key, to_text(value).substr(0, 200), expected);
}

void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, std::int64_t& value) {
  const Json* const found = find_key(json, key);
  if (!found) return;
  const auto whole = whole_number<std::int64_t>(*found, 1, high);
  if (!whole) fail_key(source, key, *found, fmt::format("an integer from 1 to {}", high));
  value = *whole;
}

void read_key(const Json& json, const char* key, std::int64_t high, const std::string& source, int& value) {
  std::int64_t wide = value;
  read_key(json, key, high, source, wide);
  value = static_cast<int>(wide);
}

void read_key(const Json& json, const char* key, const std::string& source, bool& value) {
  const Json* const found = find_key(json, key);
  if (!found) return;
  if (!found->is_boolean()) fail_key(source, key, *found, "true or false");
  value = found->get<bool>();
}

void read_channels(const Json& json, const char* key, double low, const std::string& source,
                   std::array<float, 3>& values) {
  if (!json.contains(key)) return;
  const Json& found = json.at(key);
  const auto good = [low](const Json& v) { return v.is_number() && v >= low && v <= 1e3; };
  if (!found.is_array() || found.size() != 3 || !std::all_of(found.begin(), found.end(), good))
    fail_key(source, key, found, "three numbers of a sensible size");
  for (std::size_t i = 0; i < 3; ++i) values[i] = found[i].get<float>();
}

Json channels_json(const std::array<float, 3>& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(Json::parse(fmt::format("{}", value)));
  return list;
}

void read_pixel_limits(const Json& json, const std::string& source, PixelLimits& limits) {
  if (const Json* const size = find_key(json, "size")) {
    if (!size->is_object()) fail_key(source, "size", *size, "{shortest_edge, longest_edge}");
    read_key(*size, "min_pixels", kMostPixels, source, limits.least);
    read_key(*size, "max_pixels", kMostPixels, source, limits.most);
    read_key(*size, "shortest_edge", kMostPixels, source, limits.least);
    read_key(*size, "longest_edge", kMostPixels, source, limits.most);
  }
  read_key(json, "min_pixels", kMostPixels, source, limits.least);
  read_key(json, "max_pixels", kMostPixels, source, limits.most);
  if (limits.least > limits.most)
    throw Error("image processor {}: min_pixels {} is above max_pixels {}", source, limits.least, limits.most);
}

}  // namespace agon::agents
