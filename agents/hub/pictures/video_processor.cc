#include "agents/hub/pictures/video_processor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "kernels/patchify/patchify.h"

namespace agon::agents {
namespace {

std::vector<int> shown_frames(const Video& video, const VideoSettings& settings) {
  if (video.is_whole() && settings.samples) return sampled_frames(settings.sampling, video.source_frames, video.fps);
  std::vector<int> all(video.frames.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The size of a frame in Qwen2-VL and Qwen2.5-VL: as for a picture, with the limits for videos.
Size single_frame_size(Size frame, int frames, const ImageProcessorConfig& config) {
  ImageProcessorConfig limits = config;
  const VideoSettings& video = config.video;
  limits.min_pixels = video.min_pixels;
  limits.max_pixels = video.max_pixels;
  if (video.caps_frames) {
    const double side = config.patch_size * config.merge_size;
    const auto total = static_cast<std::int64_t>(video.max_tokens * side * side * 0.9);
    limits.max_pixels = std::max(std::min(video.max_pixels, total * config.temporal_patch_size / frames),
                                 static_cast<std::int64_t>(static_cast<double>(video.min_pixels) * 1.05));
  }
  return smart_resize(frame, limits);
}

// Scales up until each side is at least `least`, keeping the aspect ratio.
Size enlarged(Size frame, int least) {
  if (frame.width >= least && frame.height >= least) return frame;
  const double scale = std::max(static_cast<double>(least) / frame.height, static_cast<double>(least) / frame.width);
  return {static_cast<int>(frame.width * scale), static_cast<int>(frame.height * scale)};
}

// The size of a frame in Qwen3-VL, whose limits apply to all frames together. As in transformers, the number of frames
// is rounded to whole temporal patches when the area is compared with the limits, but not when it is scaled.
Size frame_size_of_many(Size frame, int frames, const ImageProcessorConfig& config) {
  const VideoSettings& video = config.video;
  const int side = config.patch_size * config.merge_size, temporal = config.temporal_patch_size;
  double most = static_cast<double>(video.max_pixels);
  if (video.caps_frames) {
    const std::int64_t share = std::min(std::int64_t{video.max_tokens} * side * side, video.max_pixels / frames);
    most = static_cast<double>(
        std::max(share, static_cast<std::int64_t>(static_cast<double>(video.min_pixels) * 1.05)) * frames);
  }
  frame = enlarged(frame, side);
  return smart_resize(frame, side, std::nearbyint(static_cast<double>(frames) / temporal) * temporal, frames,
                      static_cast<double>(video.min_pixels), most);
}

Size frame_size(const Video& video, int frames, const ImageProcessorConfig& config) {
  const Size given{video.frames.front().width(), video.frames.front().height()};
  if (!config.do_resize) return given;
  return config.video.limits_whole ? frame_size_of_many(given, frames, config)
                                   : single_frame_size(given, frames, config);
}

// Positions between temporal patches. transformers computes the seconds in fp32, and drops the fraction before it
// multiplies by tokens per second.
int time_step(const Video& video, std::size_t shown, const ImageProcessorConfig& config, const VisionConfig& vision) {
  if (vision.tower->video_time != VideoTime::seconds) return 1;
  const double fps = static_cast<double>(shown) / video.source_frames * video.fps;
  const auto seconds = static_cast<float>(config.temporal_patch_size / fps);
  constexpr double kMost = 1e9;  // far above any context
  return static_cast<int>(std::min(vision.tokens_per_second * std::floor(static_cast<double>(seconds)), kMost));
}

std::vector<std::string> timestamps_of(const Video& video, const std::vector<int>& frames, int temporal) {
  std::vector<std::string> texts;
  const auto seconds = [&](std::size_t i) { return video.places[static_cast<std::size_t>(frames[i])] / video.fps; };
  const auto count = static_cast<std::size_t>(temporal);
  for (std::size_t i = 0; i < frames.size(); i += count)
    texts.push_back(fmt::format("<{:.1f} seconds>", (seconds(i) + seconds(i + count - 1)) / 2));
  return texts;
}

Hash128 hash_of(const Video& video, std::span<const int> frames, const ImageGrid& grid) {
  std::string bytes = fmt::format("{} {} {}", grid.h, grid.w, grid.time_step);
  for (const int frame : frames) bytes += ' ' + video.frames[static_cast<std::size_t>(frame)].hash().hex();
  return hash_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::shared_ptr<const PatchedImage> cut_frames(const Video& video, std::span<const int> frames, const VideoPlan& plan,
                                               const ImageProcessorConfig& config) {
  const int temporal = config.temporal_patch_size;
  PatchedImage result{plan.grid, {}, {}};
  result.grid.t = static_cast<int>(frames.size()) / temporal;
  result.hash = hash_of(video, frames, result.grid);
  const std::size_t picture =
      static_cast<std::size_t>(plan.size.width) * static_cast<std::size_t>(plan.size.height) * 3;
  result.patches.resize(picture * frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Image& frame = video.frames[static_cast<std::size_t>(frames[i])];
    const Image resized = resize_bicubic(frame, plan.size, Resampler::torchvision);
    kernels::PatchifyInput input = patchify_input(resized, config);
    std::copy(config.video.mean.begin(), config.video.mean.end(), input.mean);
    std::copy(config.video.std.begin(), config.video.std.end(), input.std);
    input.frame = static_cast<int>(i) % temporal;
    const std::size_t patch = i / static_cast<std::size_t>(temporal);
    kernels::patchify(input, result.patches.data() + patch * picture * static_cast<std::size_t>(temporal));
  }
  return std::make_shared<const PatchedImage>(std::move(result));
}

}  // namespace

VideoPlan plan_video(const Video& video, const ImageProcessorConfig& config, const VisionConfig& vision) {
  VideoPlan plan;
  plan.frames = shown_frames(video, config.video);
  const std::size_t shown = plan.frames.size();
  const int temporal = config.temporal_patch_size;
  plan.size = frame_size(video, static_cast<int>(shown), config);
  while (plan.frames.size() % static_cast<std::size_t>(temporal) != 0) plan.frames.push_back(plan.frames.back());
  plan.grid = {static_cast<int>(plan.frames.size()) / temporal, plan.size.height / config.patch_size,
               plan.size.width / config.patch_size, time_step(video, shown, config, vision)};
  if (vision.tower->video_time == VideoTime::timestamps) plan.timestamps = timestamps_of(video, plan.frames, temporal);
  return plan;
}

PatchedVideo cut_video(const Video& video, const VideoPlan& plan, const ImageProcessorConfig& config) {
  PatchedVideo result{{}, plan.timestamps};
  const std::span<const int> frames = plan.frames;
  const auto temporal = static_cast<std::size_t>(config.temporal_patch_size);
  const std::size_t part = plan.timestamps.empty() ? frames.size() : temporal;
  for (std::size_t i = 0; i < frames.size(); i += part)
    result.parts.push_back(cut_frames(video, frames.subspan(i, part), plan, config));
  return result;
}

}  // namespace agon::agents
