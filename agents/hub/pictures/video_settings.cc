#include "agents/hub/pictures/video_settings.h"

#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/pictures/processor_keys.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr int kMostFrames = 1 << 20;

constexpr std::string_view kQwen2 = "Qwen2VLVideoProcessor", kQwen3 = "Qwen3VLVideoProcessor";

VideoSettings settings_of(std::string_view processor) {  // the processor's defaults
  VideoSettings settings;
  if (processor == kQwen2) return settings;
  settings.samples = settings.limits_whole = true;
  settings.sampling.spread = FrameSampling::Spread::ends;
  settings.min_pixels = 128 * 32 * 32;
  settings.max_pixels = 32 * 32 * 768;
  settings.max_tokens = 768;
  settings.mean = settings.std = {0.5f, 0.5f, 0.5f};
  return settings;
}

// The file's own processor; else the one that transformers derives from the image processor, else the family's.
std::string processor_of(const Json& json, const std::string& source, const Tower& tower) {
  const auto name = [&](const char* key) { return json.is_object() ? json.value(key, Json()) : Json(); };
  const Json type = name("video_processor_type");
  const bool is_derived = name("image_processor_type") == "Qwen2VLImageProcessor";
  if (type.is_null()) return std::string(tower.video_time == VideoTime::timestamps && !is_derived ? kQwen3 : kQwen2);
  if (type != kQwen2 && type != kQwen3)
    fail_key(source, "video_processor_type", type, fmt::format("{} or {}", kQwen2, kQwen3));
  return type.get<std::string>();
}

void read_rate(const Json& json, const std::string& source, double& fps) {
  if (!json.contains("fps") || json.at("fps").is_null()) return;
  const Json& found = json.at("fps");
  const bool good = found.is_number() && found.get<double>() > 0 && found.get<double>() <= 1e4;
  if (!good) fail_key(source, "fps", found, "a rate above 0");
  fps = found.get<double>();
}

void read_sampling(const Json& json, const std::string& source, FrameSampling& sampling) {
  read_rate(json, source, sampling.fps);
  int count = 0;
  read_key(json, "num_frames", kMostFrames, source, count);
  if (count > 0) sampling.count = count;
  if (sampling.count && json.contains("fps") && !json.at("fps").is_null())
    fail_key(source, "num_frames", json.at("num_frames"),
             "null if fps is set, as only one of them can choose the frames");
  read_key(json, "min_frames", kMostFrames, source, sampling.min_frames);
  read_key(json, "max_frames", kMostFrames, source, sampling.max_frames);
  read_key(json, "temporal_patch_size", 16, source, sampling.multiple);
}

// Qwen3-VL's processor reads only the limits in "size".
void read_limits(Json json, const std::string& source, VideoSettings& settings) {
  if (settings.limits_whole)
    for (const char* key : {"min_pixels", "max_pixels"}) json.erase(key);
  PixelLimits limits{settings.min_pixels, settings.max_pixels};
  read_pixel_limits(json, source, limits);
  settings.min_pixels = limits.least, settings.max_pixels = limits.most;
}

// Keys that pictures and videos share must have the same values, since frames are cut like pictures.
void check_shared(const Json& json, const std::string& source, const ImageProcessorConfig& images) {
  const Json expected = to_json(images);
  Json shared = Json::object();
  for (const auto& [key, value] : json.items())
    if (expected.contains(key) && key != "image_processor_type" && !key.ends_with("_pixels") && key != "size" &&
        key != "image_mean" && key != "image_std")
      shared[key] = value;
  const Json given = to_json(parse_image_processor_config(shared, source));
  for (const auto& [key, value] : shared.items())
    if (given.at(key) != expected.at(key))
      fail_key(source, key, value, fmt::format("{} as in preprocessor_config.json", expected.at(key).dump()));
}

}  // namespace

VideoSettings default_video_settings(const Tower& tower) { return settings_of(processor_of({}, {}, tower)); }

VideoSettings parse_video_settings(const Json& json, const std::string& source, const ImageProcessorConfig& images,
                                   const Tower& tower) {
  if (!json.is_object()) throw Error("image processor {}: the file is not a JSON object", source);
  check_shared(json, source, images);
  VideoSettings settings = settings_of(processor_of(json, source, tower));
  read_key(json, "do_sample_frames", source, settings.samples);
  read_sampling(json, source, settings.sampling);
  read_limits(json, source, settings);
  read_channels(json, "image_mean", -1e3, source, settings.mean);
  read_channels(json, "image_std", 1e-3, source, settings.std);
  read_key(json, "cap_pixels_per_frame", source, settings.caps_frames);
  read_key(json, "max_video_tokens", kMostPixels, source, settings.max_tokens);
  return settings;
}

Json video_processor_json(const ImageProcessorConfig& images) {
  const VideoSettings& settings = images.video;
  Json json = to_json(images);
  for (const char* key : {"image_processor_type", "min_pixels", "max_pixels"}) json.erase(key);
  json.update({{"video_processor_type", settings.limits_whole ? kQwen3 : kQwen2},
               {"do_sample_frames", settings.samples},
               {"min_frames", settings.sampling.min_frames},
               {"max_frames", settings.sampling.max_frames},
               {"size", {{"shortest_edge", settings.min_pixels}, {"longest_edge", settings.max_pixels}}},
               {"cap_pixels_per_frame", settings.caps_frames},
               {"max_video_tokens", settings.max_tokens},
               {"image_mean", channels_json(settings.mean)},
               {"image_std", channels_json(settings.std)}});
  if (settings.sampling.count)
    json["num_frames"] = *settings.sampling.count;
  else
    json["fps"] = settings.sampling.fps;
  return json;
}

}  // namespace agon::agents
