// core/pictures/image_header.h - reads the header of a PNG, JPEG or WebP file without decoding it: the size, the cost
// of decoding, and the parts that a decoder needs. Everything else (text, profiles, thumbnails, later frames) is left
// out, so no decoder ever sees it. Linear in the file's bytes; allocates a few megabytes at most.
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
  // Place and size of the coded picture. Only the first frame of an animation may be smaller than the whole picture;
  // the rest is then white. coded_width, coded_height: 0 means the same as width and height.
  std::uint64_t left = 0, top = 0, coded_width = 0, coded_height = 0;
  int orientation = 1;                // from EXIF, else from XMP; 1..8
  bool complete = false;              // the file has its end mark and everything before it
  std::string_view kind;              // "16-bit RGB with alpha", for messages
  std::uint64_t bytes_per_pixel = 3;  // that the decoder holds at most, 8-bit RGB included
  std::uint64_t scans = 1;            // JPEG: passes over the picture, or over some of its components
  std::uint64_t blocks = 0;           // JPEG: of 8 x 8 samples, counted once per scan
  std::string fault;                  // why no decoder here reads it; empty: one does
  // The bytes that the decoder needs: `lead`, then `parts` of the bytes that were read.
  std::vector<std::uint8_t> lead;
  std::vector<std::span<const std::uint8_t>> parts;
};

// Nothing: none of the three formats, or damaged before the size. `bytes` may be only the start of a file: scans and
// blocks after it are then not counted, and the header is not complete.
std::optional<ImageHeader> read_image_header(std::span<const std::uint8_t> bytes);

}  // namespace agon
