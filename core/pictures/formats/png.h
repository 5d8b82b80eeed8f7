// core/pictures/formats/png.h - reads the header of a PNG file (core/pictures/image_header.h).
#pragma once

#include <optional>

#include "core/pictures/formats/bytes.h"
#include "core/pictures/image_header.h"

namespace agon::image_formats {

// Nothing: another format, or damaged before the size.
std::optional<ImageHeader> png_header(Bytes bytes);

}  // namespace agon::image_formats
