#include "core/pictures/image_header.h"

#include "core/pictures/formats/jpeg.h"
#include "core/pictures/formats/png.h"
#include "core/pictures/formats/webp.h"

namespace agon {

std::optional<ImageHeader> read_image_header(std::span<const std::uint8_t> bytes) {
  std::optional<ImageHeader> header = image_formats::png_header(bytes);
  if (!header) header = image_formats::jpeg_header(bytes);
  return header ? header : image_formats::webp_header(bytes);
}

}  // namespace agon
