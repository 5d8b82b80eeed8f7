#include "core/pictures/formats/webp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/pictures/formats/orientation.h"

namespace agon::image_formats {
namespace {

void append_little_endian(std::vector<std::uint8_t>& bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void append(std::vector<std::uint8_t>& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// The sides in a "VP8 " or "VP8L" chunk's content; nothing if it is cut off or is not one.
std::optional<std::pair<std::uint64_t, std::uint64_t>> webp_sides(Bytes content, bool lossless) {
  if (lossless) {
    if (content.size() < 5 || content[0] != 0x2F) return {};
    const std::uint64_t bits = little_endian(content, 1, 4);
    return std::pair((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
  }
  if (!starts_with(content, 3, "\x9D\x01\x2A") || content.size() < 10) return {};
  return std::pair(little_endian(content, 6, 2) & 0x3FFF, little_endian(content, 8, 2) & 0x3FFF);
}

// WebP has no checksums, and a decoder takes zeros for data. The data of a flat picture may end in zeros too, but they
// are at most a twentieth of it.
bool ends_in_zeros(Bytes content) {
  constexpr std::size_t kFew = 64;
  const auto last = std::find_if(content.rbegin(), content.rend(), [](std::uint8_t byte) { return byte != 0; });
  const auto zeros = static_cast<std::size_t>(last - content.rbegin());
  return zeros > kFew && zeros > content.size() / 5;
}

// Finds the picture among the chunks of bytes[at, end): of the file, or of an animation's frame. The header's sides are
// those of the container, or 0 x 0 if it gives none.
void find_webp_picture(ImageHeader& header, Bytes bytes, std::size_t at, std::size_t end, bool frame) {
  Bytes alpha;  // a whole chunk; empty: none so far
  while (end - at >= 8) {
    const std::uint64_t size = little_endian(bytes, at + 4, 4);
    const std::size_t available = end - at - 8;
    const bool whole = size <= available;
    const std::size_t next = at + 8 + std::min<std::uint64_t>(size + size % 2, available);
    const Bytes content = bytes.subspan(at + 8, std::min<std::uint64_t>(size, available));
    const auto is = [&](const char* name) { return starts_with(bytes, at, name); };
    if (is("ALPH") && alpha.empty() && whole) alpha = bytes.subspan(at, next - at);
    if (is("ANMF") && !frame) {
      if (content.size() < 16) return;
      header.left = 2 * little_endian(content, 0, 3);
      header.top = 2 * little_endian(content, 3, 3);
      header.coded_width = little_endian(content, 6, 3) + 1;
      header.coded_height = little_endian(content, 9, 3) + 1;
      if (header.left + header.coded_width > header.width || header.top + header.coded_height > header.height)
        header.fault = "its first frame lies outside of it";
      else
        find_webp_picture(header, bytes, at + 24, at + 8 + content.size(), true);
      return;
    }
    if (is("VP8 ") || is("VP8L")) {
      const bool lossless = is("VP8L");
      const auto sides = webp_sides(content, lossless);
      if (!sides) {
        if (whole) header.fault = "its picture is damaged at the start";
        return;
      }
      if (header.width == 0 && header.height == 0) std::tie(header.width, header.height) = *sides;
      if (!frame) std::tie(header.coded_width, header.coded_height) = std::tie(header.width, header.height);
      if (sides != std::pair(header.coded_width, header.coded_height)) {
        header.fault = fmt::format("its header says {} x {} pixels, its picture {} x {}", header.coded_width,
                                   header.coded_height, sides->first, sides->second);
        return;
      }
      if (lossless) alpha = {};  // it has its own
      header.kind = lossless ? "lossless" : alpha.empty() ? "lossy" : "lossy with alpha";
      // RGB or RGBA, and its source; for alpha, a plane and the lossless picture in which it is packed.
      header.bytes_per_pixel = lossless ? 8 : alpha.empty() ? 4 : 10;
      if (header.coded_width != header.width || header.coded_height != header.height) header.bytes_per_pixel += 3;
      if (!whole) return;
      if (ends_in_zeros(content)) header.fault = "its data ends in zeros, as those of a download that broke off";
      const std::uint64_t inside = 4 + (alpha.empty() ? 0 : 18 + alpha.size()) + (next - at);
      append(header.lead, "RIFF");
      append_little_endian(header.lead, inside, 4);
      append(header.lead, "WEBP");
      if (!alpha.empty()) {
        append(header.lead, "VP8X");
        append_little_endian(header.lead, 10, 4);
        append_little_endian(header.lead, 0x10, 4);  // it has alpha
        append_little_endian(header.lead, header.coded_width - 1, 3);
        append_little_endian(header.lead, header.coded_height - 1, 3);
        header.parts.push_back(alpha);
      }
      header.parts.push_back(bytes.subspan(at, next - at));
      header.complete = true;
      return;
    }
    if (!whole) return;
    at = next;
  }
}

// The orientation in the file's chunks, bytes[at, end). Only chunks that the flags of its header name count.
int webp_orientation(Bytes bytes, std::size_t at, std::size_t end, bool has_exif, bool has_xmp) {
  Orientation orientation;
  while (end - at >= 8) {
    const std::uint64_t size = little_endian(bytes, at + 4, 4);
    const std::uint64_t padded = size + size % 2, available = end - at - 8;
    if (size > available) break;
    const Bytes content = bytes.subspan(at + 8, size);
    if (has_exif && starts_with(bytes, at, "EXIF")) orientation.see_exif(orientation_of_chunk(content));
    if (has_xmp && starts_with(bytes, at, "XMP ")) orientation.see_xmp(as_text(content));
    at += 8 + std::min(padded, available);
  }
  return orientation.value();
}

}  // namespace

std::optional<ImageHeader> webp_header(Bytes bytes) {
  if (!starts_with(bytes, 0, "RIFF") || !starts_with(bytes, 8, "WEBP") || bytes.size() < 30) return {};
  ImageHeader header;
  header.format = ImageFormat::webp;
  const bool whole = little_endian(bytes, 4, 4) + 8 <= bytes.size();
  if (starts_with(bytes, 12, "VP8X")) {
    constexpr std::uint8_t kHasExif = 0x08, kHasXmp = 0x04;
    header.width = little_endian(bytes, 24, 3) + 1;
    header.height = little_endian(bytes, 27, 3) + 1;
    const std::uint64_t end = std::min<std::uint64_t>(little_endian(bytes, 4, 4) + 8, bytes.size());
    if (end > 12)
      header.orientation = webp_orientation(bytes, 12, end, (bytes[20] & kHasExif) != 0, (bytes[20] & kHasXmp) != 0);
  } else if (!starts_with(bytes, 12, "VP8 ") && !starts_with(bytes, 12, "VP8L")) {
    return {};
  }
  find_webp_picture(header, bytes, 12, bytes.size(), false);
  header.complete = header.complete && whole;
  if (header.kind.empty() && header.width == 0) return {};
  return header;
}

}  // namespace agon::image_formats
