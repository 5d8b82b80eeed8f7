// core/decoder/exif_turn.h - applies a picture's EXIF orientation; core/pictures/formats/orientation.h reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/decoder/codecs.h"

namespace agon::decoder {

// Whether width and height are swapped. orientation: 1 to 8 as in EXIF, here and below.
inline bool swaps_sides(std::uint32_t orientation) { return orientation >= 5; }

// The rows of the turned picture from `top` on, 8-bit RGB without padding, as many as fit into `rows`.
void copy_turned_rows(const Picture& picture, std::uint32_t orientation, std::size_t top, std::span<std::uint8_t> rows);

}  // namespace agon::decoder
