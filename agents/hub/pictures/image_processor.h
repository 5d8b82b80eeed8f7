// agents/hub/pictures/image_processor.h - turns a picture into the patches that a vision tower reads, as the hub's
// Qwen2VLImageProcessor does: smart resize, normalise, cut into patches in merge-block order.
// agents/hub/pictures/video_processor.h does the same for videos.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/hub/pictures/resize_bicubic.h"
#include "agents/hub/pictures/video_settings.h"
#include "core/json.h"
#include "core/pictures/image.h"
#include "kernels/patchify/patchify.h"
#include "kernels/uninitialized.h"

namespace agon::agents {

struct ImageGrid {
  int t = 1, h = 0, w = 0;  // patches
  int time_step = 1;        // M-RoPE positions between temporal patches
  int patches() const { return t * h * w; }
  bool operator==(const ImageGrid&) const = default;
};

struct PatchedImage {
  ImageGrid grid;
  kernels::UninitializedFloats patches;  // [grid.patches(), channels * temporal_patch * patch * patch]
  Hash128 hash;                          // of the picture before resizing; for a video, of its frames and the grid
};

struct ImageProcessorConfig {
  int patch_size = 14, temporal_patch_size = 2, merge_size = 2;
  std::int64_t min_pixels = 56 * 56, max_pixels = 28 * 28 * 1280;
  std::array<float, 3> mean = kClipMean, std = kClipStd;
  bool do_resize = true;
  Resampler resampler = Resampler::pil;  // for pictures; videos always use torchvision's
  VideoSettings video;
};
// The resamplers by name: "pil" and "torchvision".
std::optional<Resampler> find_resampler(std::string_view name);
std::string_view name_of(Resampler resampler);

// "image_processor_type" determines the resampler: Qwen2VLImageProcessorFast means torchvision, other names mean PIL.
ImageProcessorConfig parse_image_processor_config(const Json& json,
                                                  const std::string& source);  // preprocessor_config.json
Json to_json(const ImageProcessorConfig& config);

// The size whose sides are the nearest multiples of patch_size * merge_size, with an area within [min_pixels,
// max_pixels]. Rounds half to even as Python does. Throws Error for an aspect ratio above 200.
Size smart_resize(Size size, const ImageProcessorConfig& config);
// The same for the `frames` frames of a video: the limits apply to their total area. `rounded_frames` (whole temporal
// patches) decides whether a limit is exceeded; `frames` decides by how much the size is scaled. `side`: pixels of a
// square of merged patches.
Size smart_resize(Size size, int side, double rounded_frames, double frames, double min_pixels, double max_pixels);

// REQUIRES: the picture already has its final size. The result refers to its pixels. Throws Error if the picture cannot
// be cut into whole patches.
kernels::PatchifyInput patchify_input(const Image& image, const ImageProcessorConfig& config);
PatchedImage process_image(const Image& image, const ImageProcessorConfig& config);
// Tokens that the picture takes in a prompt: grid h * w / merge^2.
int image_tokens(const ImageGrid& grid, const ImageProcessorConfig& config);

}  // namespace agon::agents
