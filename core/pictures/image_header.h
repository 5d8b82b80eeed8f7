// core/pictures/image_header.h - the header of a PNG, JPEG or WebP file, read without decoding: its size, what decoding
// costs, and the parts that a decoder needs. Everything else (text, profiles, thumbnails, later frames) is left out, so
// no decoder ever sees it. Linear in the file's bytes; allocates a few megabytes at most.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pictures/image.h"

namespace agon {

struct ImageHeader {
  ImageFormat format = ImageFormat::png;
  std::uint64_t width = 0, height = 0;  // as stored: before `orientation` turns the picture
  // Of an animation's first frame, which may cover a part of it; else the whole. The rest is white.
  std::uint64_t left = 0, top = 0, coded_width = 0, coded_height = 0;  // coded: 0, as width and height
  int orientation = 1;                                                 // EXIF's, or else XMP's, 1..8
  bool complete = false;              // the end mark is there, and all that lies before it
  std::string_view kind;              // "16-bit RGB with alpha", for messages
  std::uint64_t bytes_per_pixel = 3;  // that the decoder holds at most, 8-bit RGB included
  std::uint64_t scans = 1;            // JPEG: passes over the picture, or over some of its components
  std::uint64_t blocks = 0;           // JPEG: of 8 x 8 samples, counted once per scan
  std::string fault;                  // not empty: no decoder here reads it, and why
  // The file without what the decoder does not need: `lead`, then `parts` of the bytes that were read.
  std::vector<std::uint8_t> lead;
  std::vector<std::span<const std::uint8_t>> parts;
};

// Nothing: none of the three formats, or damaged before the size. `bytes` may be the start of a file: what lies behind
// them is then not counted, and the header is not complete.
std::optional<ImageHeader> read_image_header(std::span<const std::uint8_t> bytes);

}  // namespace agon
