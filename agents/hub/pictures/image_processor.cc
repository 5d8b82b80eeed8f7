#include "agents/hub/pictures/image_processor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/hub/pictures/picture_threads.h"
#include "agents/hub/pictures/processor_keys.h"
#include "core/error.h"

namespace agon::agents {
namespace {

// Checks that a key has the only value that agon implements.
void expect(const Json& json, const char* key, const Json& expected, const std::string& source) {
  if (json.contains(key) && json.at(key) != expected) fail_key(source, key, json.at(key), expected.dump());
}

constexpr std::string_view kProcessor = "Qwen2VLImageProcessor", kFast = "Qwen2VLImageProcessorFast",
                           kPil = "Qwen2VLImageProcessorPil";

constexpr std::pair<std::string_view, Resampler> kResamplers[] = {{"pil", Resampler::pil},
                                                                  {"torchvision", Resampler::torchvision}};

}  // namespace

ImageProcessorConfig parse_image_processor_config(const Json& json, const std::string& source) {
  if (!json.is_object()) throw Error("image processor {}: the file is not a JSON object", source);
  const Json type = json.value("image_processor_type", Json(kProcessor));
  if (type != kProcessor && type != kFast && type != kPil)
    fail_key(source, "image_processor_type", type, std::string(kProcessor));
  ImageProcessorConfig config;
  if (type == kFast) config.resampler = Resampler::torchvision;
  read_key(json, "patch_size", 1024, source, config.patch_size);
  read_key(json, "temporal_patch_size", 16, source, config.temporal_patch_size);
  read_key(json, "merge_size", 16, source, config.merge_size);
  PixelLimits limits{config.min_pixels, config.max_pixels};
  read_pixel_limits(json, source, limits);
  config.min_pixels = limits.least, config.max_pixels = limits.most;
  read_channels(json, "image_mean", -1e3, source, config.mean);
  read_channels(json, "image_std", 1e-3, source, config.std);
  config.video.mean = config.mean, config.video.std = config.std;
  expect(json, "do_rescale", true, source);
  expect(json, "do_normalize", true, source);
  expect(json, "resample", 3, source);  // bicubic in PIL
  if (json.contains("rescale_factor")) {
    const Json& factor = json.at("rescale_factor");
    if (!factor.is_number() || std::abs(factor.get<double>() * 255 - 1) > 1e-6)
      fail_key(source, "rescale_factor", factor, "1/255");
  }
  read_key(json, "do_resize", source, config.do_resize);
  return config;
}

Json to_json(const ImageProcessorConfig& config) {
  return {{"image_processor_type", config.resampler == Resampler::torchvision ? kFast : kProcessor},
          {"do_convert_rgb", true},
          {"do_resize", config.do_resize},
          {"resample", 3},
          {"size", {{"shortest_edge", config.min_pixels}, {"longest_edge", config.max_pixels}}},
          {"min_pixels", config.min_pixels},
          {"max_pixels", config.max_pixels},
          {"do_rescale", true},
          {"rescale_factor", 1.0 / 255},
          {"do_normalize", true},
          {"image_mean", channels_json(config.mean)},
          {"image_std", channels_json(config.std)},
          {"patch_size", config.patch_size},
          {"temporal_patch_size", config.temporal_patch_size},
          {"merge_size", config.merge_size}};
}

std::optional<Resampler> find_resampler(std::string_view name) {
  for (const auto& [known, resampler] : kResamplers)
    if (known == name) return resampler;
  return std::nullopt;
}

std::string_view name_of(Resampler resampler) {
  return std::find_if(std::begin(kResamplers), std::end(kResamplers),
                      [=](const auto& one) { return one.second == resampler; })
      ->first;
}

Size smart_resize(Size size, int side, double rounded_frames, double frames, double min_pixels, double max_pixels) {
  const double width = size.width, height = size.height, factor = side;
  if (size.width < 1 || size.height < 1) throw Error("picture: its size is {} x {}", size.width, size.height);
  if (std::max(width, height) / std::min(width, height) > 200)
    throw Error("picture: {} x {} is more than 200 times as long as wide. Crop it.", size.width, size.height);
  double new_width = std::nearbyint(width / factor) * factor, new_height = std::nearbyint(height / factor) * factor;
  if (rounded_frames * new_height * new_width > max_pixels) {
    const double beta = std::sqrt(frames * height * width / max_pixels);
    new_height = std::max(factor, std::floor(height / beta / factor) * factor);
    new_width = std::max(factor, std::floor(width / beta / factor) * factor);
  } else if (rounded_frames * new_height * new_width < min_pixels) {
    const double beta = std::sqrt(min_pixels / (frames * height * width));
    new_height = std::ceil(height * beta / factor) * factor;
    new_width = std::ceil(width * beta / factor) * factor;
  }
  return {static_cast<int>(new_width), static_cast<int>(new_height)};
}

Size smart_resize(Size size, const ImageProcessorConfig& config) {
  return smart_resize(size, config.patch_size * config.merge_size, 1, 1, static_cast<double>(config.min_pixels),
                      static_cast<double>(config.max_pixels));
}

kernels::PatchifyInput patchify_input(const Image& image, const ImageProcessorConfig& config) {
  kernels::PatchifyInput input{image.rgb().data(), image.height(),    image.width(),
                               config.patch_size,  config.merge_size, config.temporal_patch_size};
  std::copy(config.mean.begin(), config.mean.end(), input.mean);
  std::copy(config.std.begin(), config.std.end(), input.std);
  if (const char* problem = kernels::patchify_problem(input))
    throw Error("picture: {} x {} cannot be cut into patches: {} (patch {}, merge {})", image.width(), image.height(),
                problem, config.patch_size, config.merge_size);
  return input;
}

PatchedImage process_image(const Image& image, const ImageProcessorConfig& config) {
  if (image.empty()) throw Error("picture: it is empty");
  const Size given{image.width(), image.height()};
  const kernels::ParallelFor parallel = picture_threads(std::int64_t{image.width()} * image.height());
  const Image resized =
      config.do_resize ? resize_bicubic(image, smart_resize(given, config), config.resampler, parallel) : image;
  const kernels::PatchifyInput input = patchify_input(resized, config);
  PatchedImage result{{1, resized.height() / config.patch_size, resized.width() / config.patch_size}, {}, image.hash()};
  result.patches.resize(resized.rgb().size() * static_cast<std::size_t>(config.temporal_patch_size));
  kernels::patchify(input, result.patches.data(), parallel);
  return result;
}

int image_tokens(const ImageGrid& grid, const ImageProcessorConfig& config) {
  return grid.patches() / (config.merge_size * config.merge_size);
}

}  // namespace agon::agents
