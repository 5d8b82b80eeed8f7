// core/pictures/image.h - an 8-bit RGB picture. An Image is a handle: copies share the pixels, which never change after
// construction, so any thread may read it. Pictures are decoded in separate processes (core/pictures/image_decoder.h),
// because a hostile file can crash, fill or stall a decoder. core/pictures/image_encoder.h encodes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/hash.h"

namespace agon {

// All limits except the CPU time are checked before any pixel is decoded.
struct ImageLimits {
  std::int64_t max_pixels = 1ll << 26;  // width x height: 8192 x 8192
  int max_side = 16'384;                // pixels
  std::int64_t max_encoded_bytes = 256ll << 20;
  std::int64_t max_decode_bytes = 512ll << 20;  // of decoding: 6 to 11 per pixel
  int max_scans = 100;                          // of a JPEG: passes over the picture; a progressive one has about 10
  std::int64_t max_blocks = 40'000'000;         // of a JPEG: 8 x 8 samples, counted once per scan
  double cpu_seconds = 10;
  double most_elongated = 0;  // the longer side over the shorter one; 0: any
};
// The most elongated picture that image processors of Qwen2-VL's family accept.
inline constexpr double kMostElongated = 200;

enum class ImageFormat { png, jpeg, webp };

class Image {
 public:
  Image() = default;  // empty: 0 x 0
  // Takes the pixels: rows top to bottom, RGB interleaved, no padding. REQUIRES: rgb.size() == width * height * 3.
  Image(int width, int height, std::vector<std::uint8_t> rgb);

  int width() const;
  int height() const;
  bool empty() const { return width() == 0; }
  std::span<const std::uint8_t> rgb() const;  // valid as long as any copy of this image lives
  const Hash128& hash() const;                // of size and pixels; computed at the first call, thread-safe
  bool operator==(const Image& other) const;
  // The JPEG file that the picture was decoded from, without its metadata. Empty if the picture was not decoded from
  // a JPEG file, or if that file is CMYK or its orientation turned the picture. Valid as rgb() is.
  std::span<const std::uint8_t> jpeg() const;
  // The picture as a PNG file, with a palette if it has at most 256 colours. Encoded at the first call and kept with
  // the pixels; thread-safe. Valid as rgb() is. REQUIRES: not empty.
  std::span<const std::uint8_t> png() const;

 private:
  friend Image decode_image(std::span<const std::uint8_t>, const std::string&, const ImageLimits&);
  struct Pixels;
  std::shared_ptr<Pixels> pixels_;
};

// Decodes PNG, JPEG or WebP (first frame; alpha over white; EXIF's orientation applied). `name` appears in the error.
// Throws Error for anything else, for a damaged file, and for one past the limits. Thread-safe. Pictures decoded at
// once: at most one per processor, 16 in all, and 1 GiB together.
Image decode_image(std::span<const std::uint8_t> encoded, const std::string& name, const ImageLimits& limits = {});
// Throws the Error that decode_image would throw, but takes no memory for the pixels in this process.
void verify_image(std::span<const std::uint8_t> encoded, const std::string& name, const ImageLimits& limits = {});
// The path of the picture file `name` in `folder`. Throws Error for an empty name and, unless such a file exists, for a
// URL (http://, file://, data:): pictures are only read from files. The message holds the beginning of the URL.
std::filesystem::path picture_path(const std::string& name, const std::filesystem::path& folder = {});
Image load_image(const std::filesystem::path& path, const ImageLimits& limits = {});
// Reads the header and looks for the end mark. Throws the Error of load_image for a file that is absent, not a picture,
// cut off or past the limits; other damage shows only at decoding.
void check_image(const std::filesystem::path& path, const ImageLimits& limits = {});
// quality: 1..100 for JPEG and WebP; ignored for PNG.
std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format, int quality = 90);
void save_image(const Image& image, const std::filesystem::path& path);  // format by extension; throws Error

}  // namespace agon
