#include "core/pictures/formats/orientation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace agon::image_formats {
namespace {

constexpr std::string_view kExifName("Exif\0\0", 6);

// The orientation in a TIFF directory, if any.
std::optional<int> orientation_of_tiff(Bytes tiff) {
  const bool little = starts_with(tiff, 0, "II");
  if (tiff.size() < 8 || (!little && !starts_with(tiff, 0, "MM"))) return {};
  const auto number = [&](std::size_t at, std::size_t count) {
    return little ? little_endian(tiff, at, count) : big_endian(tiff, at, count);
  };
  const std::uint64_t directory = number(4, 4);
  if (number(2, 2) != 42 || directory > tiff.size() - 2) return {};
  const std::uint64_t entries = std::min<std::uint64_t>(number(directory, 2), (tiff.size() - directory - 2) / 12);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    constexpr std::uint64_t kOrientation = 0x0112, kShort = 3, kLong = 4;
    const std::uint64_t type = number(at + 2, 2);
    if (number(at, 2) != kOrientation || (type != kShort && type != kLong)) continue;
    const std::uint64_t value = number(at + 8, type == kShort ? 2 : 4);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return {};
}

// The orientation in an XMP packet, if any.
std::optional<int> orientation_of_xmp(std::string_view text) {
  constexpr std::string_view kName = "tiff:Orientation";
  for (std::size_t at = 0; (at = text.find(kName, at)) != text.npos;) {
    at += kName.size();
    const std::string_view rest = text.substr(at);
    const std::size_t digit = rest.starts_with("=\"") || rest.starts_with("='") ? 2 : rest.starts_with(">") ? 1 : 0;
    if (digit > 0 && digit < rest.size() && rest[digit] >= '1' && rest[digit] <= '8') return rest[digit] - '0';
  }
  return {};
}

}  // namespace

std::optional<int> orientation_of_segment(Bytes content) {
  return starts_with(content, 0, kExifName) ? orientation_of_tiff(content.subspan(kExifName.size())) : std::nullopt;
}

std::optional<int> orientation_of_chunk(Bytes content) {
  return starts_with(content, 0, kExifName) ? orientation_of_segment(content) : orientation_of_tiff(content);
}

void Orientation::see_xmp(std::string_view packet) {
  if (!xmp) xmp = orientation_of_xmp(packet);
}

}  // namespace agon::image_formats
