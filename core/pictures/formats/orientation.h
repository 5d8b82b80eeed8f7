// core/pictures/formats/orientation.h - reads the orientation of a picture, 1..8, from the EXIF or XMP data in its
// file.
#pragma once

#include <optional>
#include <string_view>

#include "core/pictures/formats/bytes.h"

namespace agon::image_formats {

// The orientation in the EXIF data of a JPEG's APP1 segment, if any: a TIFF directory after the identifier
// "Exif\0\0".
std::optional<int> orientation_of_segment(Bytes content);

// The same for a PNG or WebP chunk, where that identifier is optional.
std::optional<int> orientation_of_chunk(Bytes content);

// The orientation given by a file's EXIF and XMP data. EXIF takes precedence, and the first entry of each counts.
struct Orientation {
  std::optional<int> exif, xmp;
  void see_exif(std::optional<int> value) {
    if (!exif) exif = value;
  }
  void see_xmp(std::string_view packet);
  int value() const { return exif.value_or(xmp.value_or(1)); }
};

}  // namespace agon::image_formats
