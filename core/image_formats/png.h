// core/image_formats/png.h - the header of a PNG file (core/image_header.h).
#pragma once

#include <optional>

#include "core/image_formats/bytes.h"
#include "core/image_header.h"

namespace agon::image_formats {

// Nothing: another format, or damaged before the size.
std::optional<ImageHeader> png_header(Bytes bytes);

}  // namespace agon::image_formats
