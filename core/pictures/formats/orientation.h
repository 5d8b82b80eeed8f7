// core/pictures/formats/orientation.h - how a picture is turned, as the EXIF or XMP in its file says: 1..8.
#pragma once

#include <optional>
#include <string_view>

#include "core/pictures/formats/bytes.h"

namespace agon::image_formats {

// The orientation that the EXIF in a JPEG's APP1 segment gives, if it does: a TIFF directory behind a name.
std::optional<int> orientation_of_segment(Bytes content);

// The same of a chunk of PNG or WebP, where some writers leave the name in.
std::optional<int> orientation_of_chunk(Bytes content);

// What a file's EXIF and XMP say of its orientation. EXIF counts first, and the first of each.
struct Orientation {
  std::optional<int> exif, xmp;
  void see_exif(std::optional<int> value) {
    if (!exif) exif = value;
  }
  void see_xmp(std::string_view packet);
  int value() const { return exif.value_or(xmp.value_or(1)); }
};

}  // namespace agon::image_formats
