#include "agents/hub/image_processor.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "kernels/patchify/patchify.h"

namespace agon::agents {
namespace {

constexpr std::int64_t kMaxPixels = 1ll << 30;  // above any sensible limit of a picture's area

[[noreturn]] void fail(const std::string& source, const std::string& key, const Json& value,
                       const std::string& expected) {
  throw Error("image processor {}: '{}' is {}, expected {}", source, key, to_text(value).substr(0, 200), expected);
}

void read_integer(const Json& json, const char* key, std::int64_t high, const std::string& source,
                  std::int64_t& value) {
  if (!json.contains(key) || json.at(key).is_null()) return;
  const Json& found = json.at(key);
  const auto whole = whole_number<std::int64_t>(found, 1, high);
  if (!whole) fail(source, key, found, fmt::format("an integer from 1 to {}", high));
  value = *whole;
}

void read_int(const Json& json, const char* key, std::int64_t high, const std::string& source, int& value) {
  std::int64_t wide = value;
  read_integer(json, key, high, source, wide);
  value = static_cast<int>(wide);
}

void read_channels(const Json& json, const char* key, double low, const std::string& source,
                   std::array<float, 3>& values) {
  if (!json.contains(key)) return;
  const Json& found = json.at(key);
  const auto good = [low](const Json& v) { return v.is_number() && v >= low && v <= 1e3; };
  if (!found.is_array() || found.size() != 3 || !std::all_of(found.begin(), found.end(), good))
    fail(source, key, found, "three numbers of a sensible size");
  for (std::size_t i = 0; i < 3; ++i) values[i] = found[i].get<float>();
}

// Checks the value of a step that agon always does.
void expect(const Json& json, const char* key, const Json& expected, const std::string& source) {
  if (json.contains(key) && json.at(key) != expected) fail(source, key, json.at(key), expected.dump());
}

// Picture areas: `size` holds them under either pair of names; the file's own min_pixels and max_pixels come first.
void read_pixel_limits(const Json& json, const std::string& source, ImageProcessorConfig& config) {
  if (json.contains("size") && !json.at("size").is_null()) {
    const Json& size = json.at("size");
    if (!size.is_object()) fail(source, "size", size, "{shortest_edge, longest_edge}");
    read_integer(size, "min_pixels", kMaxPixels, source, config.min_pixels);
    read_integer(size, "max_pixels", kMaxPixels, source, config.max_pixels);
    read_integer(size, "shortest_edge", kMaxPixels, source, config.min_pixels);
    read_integer(size, "longest_edge", kMaxPixels, source, config.max_pixels);
  }
  read_integer(json, "min_pixels", kMaxPixels, source, config.min_pixels);
  read_integer(json, "max_pixels", kMaxPixels, source, config.max_pixels);
  if (config.min_pixels > config.max_pixels)
    throw Error("image processor {}: min_pixels {} is above max_pixels {}", source, config.min_pixels,
                config.max_pixels);
}

}  // namespace

ImageProcessorConfig parse_image_processor_config(const Json& json, const std::string& source) {
  if (!json.is_object()) throw Error("image processor {}: the file is not a JSON object", source);
  if (const Json type = json.value("image_processor_type", Json("Qwen2VLImageProcessor"));
      type != "Qwen2VLImageProcessor" && type != "Qwen2VLImageProcessorFast" && type != "Qwen2VLImageProcessorPil")
    fail(source, "image_processor_type", type, "Qwen2VLImageProcessor");
  ImageProcessorConfig config;
  read_int(json, "patch_size", 1024, source, config.patch_size);
  read_int(json, "temporal_patch_size", 16, source, config.temporal_patch_size);
  read_int(json, "merge_size", 16, source, config.merge_size);
  read_pixel_limits(json, source, config);
  read_channels(json, "image_mean", -1e3, source, config.mean);
  read_channels(json, "image_std", 1e-3, source, config.std);
  expect(json, "do_rescale", true, source);
  expect(json, "do_normalize", true, source);
  expect(json, "resample", 3, source);  // PIL's number of bicubic
  if (json.contains("rescale_factor")) {
    const Json& factor = json.at("rescale_factor");
    if (!factor.is_number() || std::abs(factor.get<double>() * 255 - 1) > 1e-6)
      fail(source, "rescale_factor", factor, "1/255");
  }
  if (json.contains("do_resize")) {
    if (!json.at("do_resize").is_boolean()) fail(source, "do_resize", json.at("do_resize"), "true or false");
    config.do_resize = json.at("do_resize").get<bool>();
  }
  return config;
}

Json to_json(const ImageProcessorConfig& config) {
  const auto numbers = [](const std::array<float, 3>& values) {  // as the decimals in the file, not as doubles
    Json list = Json::array();
    for (float value : values) list.push_back(Json::parse(fmt::format("{}", value)));
    return list;
  };
  return {{"image_processor_type", "Qwen2VLImageProcessor"},
          {"do_convert_rgb", true},
          {"do_resize", config.do_resize},
          {"resample", 3},
          {"size", {{"shortest_edge", config.min_pixels}, {"longest_edge", config.max_pixels}}},
          {"min_pixels", config.min_pixels},
          {"max_pixels", config.max_pixels},
          {"do_rescale", true},
          {"rescale_factor", 1.0 / 255},
          {"do_normalize", true},
          {"image_mean", numbers(config.mean)},
          {"image_std", numbers(config.std)},
          {"patch_size", config.patch_size},
          {"temporal_patch_size", config.temporal_patch_size},
          {"merge_size", config.merge_size}};
}

Size smart_resize(Size size, const ImageProcessorConfig& config) {
  const double width = size.width, height = size.height, factor = config.patch_size * config.merge_size;
  if (size.width < 1 || size.height < 1) throw Error("picture: its size is {} x {}", size.width, size.height);
  if (std::max(width, height) / std::min(width, height) > 200)
    throw Error("picture: {} x {} is more than 200 times as long as wide. Crop it.", size.width, size.height);
  const auto min_pixels = static_cast<double>(config.min_pixels), max_pixels = static_cast<double>(config.max_pixels);
  double new_width = std::nearbyint(width / factor) * factor, new_height = std::nearbyint(height / factor) * factor;
  if (new_width * new_height > max_pixels) {
    const double beta = std::sqrt(height * width / max_pixels);
    new_height = std::max(factor, std::floor(height / beta / factor) * factor);
    new_width = std::max(factor, std::floor(width / beta / factor) * factor);
  } else if (new_width * new_height < min_pixels) {
    const double beta = std::sqrt(min_pixels / (height * width));
    new_height = std::ceil(height * beta / factor) * factor;
    new_width = std::ceil(width * beta / factor) * factor;
  }
  return {static_cast<int>(new_width), static_cast<int>(new_height)};
}

PatchedImage process_image(const Image& image, const ImageProcessorConfig& config) {
  if (image.empty()) throw Error("picture: it is empty");
  const Image resized =
      config.do_resize ? resize_bicubic(image, smart_resize({image.width(), image.height()}, config)) : image;
  kernels::PatchifyInput input{resized.rgb().data(), resized.height(),  resized.width(),
                               config.patch_size,    config.merge_size, config.temporal_patch_size};
  std::copy(config.mean.begin(), config.mean.end(), input.mean);
  std::copy(config.std.begin(), config.std.end(), input.std);
  if (const char* problem = kernels::patchify_problem(input))
    throw Error("picture: {} x {} cannot be cut into patches: {} (patch {}, merge {})", resized.width(),
                resized.height(), problem, config.patch_size, config.merge_size);
  PatchedImage result{{1, resized.height() / config.patch_size, resized.width() / config.patch_size}, {}, image.hash()};
  result.patches.resize(resized.rgb().size() * static_cast<std::size_t>(config.temporal_patch_size));
  kernels::patchify(input, result.patches.data());
  return result;
}

int image_tokens(const ImageGrid& grid, const ImageProcessorConfig& config) {
  return grid.patches() / (config.merge_size * config.merge_size);
}

}  // namespace agon::agents
