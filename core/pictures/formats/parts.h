// core/pictures/formats/parts.h - collects the parts of a file that a decoder needs.
#pragma once

#include <cstddef>

#include "core/pictures/formats/bytes.h"
#include "core/pictures/image_header.h"

namespace agon::image_formats {

// Adds bytes[begin, end) to the parts, joined to the last one if that ends at `begin`.
void keep(ImageHeader& header, Bytes bytes, std::size_t begin, std::size_t end);

}  // namespace agon::image_formats
