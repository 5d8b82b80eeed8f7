// core/pictures/image_encoder.h - encodes RGB pixels as a PNG, JPEG or WebP file. Other folders use
// core/pictures/image.h.
#pragma once

#include <cstdint>
#include <vector>

#include "core/pictures/image.h"

namespace agon {

// Fast rather than small: the filter, level and strategy that take the least time.
std::vector<std::uint8_t> encode_png(const Image& image);
// With a palette if the picture has at most 256 colours, as drawings and screens do: smaller, and faster to read.
std::vector<std::uint8_t> encode_compact_png(const Image& image);
std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality);  // 1..100; colours at half the resolution
std::vector<std::uint8_t> encode_webp(const Image& image, int quality);  // 1..100; lossy

// Each throws Error for a picture that is too large for the format.

}  // namespace agon
