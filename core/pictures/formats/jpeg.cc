#include "core/pictures/formats/jpeg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/pictures/formats/orientation.h"
#include "core/pictures/formats/parts.h"

namespace agon::image_formats {
namespace {

constexpr std::size_t kMostSegments = 20'000;  // of a file; 256 MB of metadata make 4,096

struct Component {
  std::uint8_t id = 0;
  std::uint64_t across = 1, down = 1;  // sampling factors
};

struct Frame {
  std::array<Component, 4> components;
  std::size_t count = 0;
  std::uint64_t most_across = 1, most_down = 1;
  bool several_scans = false;  // the decoder keeps all coefficients
};

bool is_start_of_frame(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::uint64_t divided_up(std::uint64_t number, std::uint64_t by) { return (number + by - 1) / by; }

// `content`: of the segment, without its length.
void read_frame(ImageHeader& header, Frame& frame, std::uint8_t marker, Bytes content) {
  header.height = big_endian(content, 1, 2);
  header.width = big_endian(content, 3, 2);
  const std::size_t count = content[5];
  frame.several_scans = marker == 0xC2 || marker == 0xCA;
  header.kind = count == 1 ? "gray" : count == 4 ? "CMYK" : "colour";
  if (marker != 0xC0 && marker != 0xC1 && marker != 0xC2 && marker != 0xC9 && marker != 0xCA)
    header.fault = "it is a lossless or hierarchical JPEG";
  else if (content[0] != 8)
    header.fault = fmt::format("it has {} bits a sample, not 8", content[0]);
  else if (count != 1 && count != 3 && count != 4)
    header.fault = fmt::format("it has {} colour components, not 1, 3 or 4", count);
  else if (content.size() < 6 + 3 * count)
    header.fault = "its frame header is too short";
  if (!header.fault.empty()) return;
  frame.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t factors = content[7 + 3 * i];
    frame.components[i] = {content[6 + 3 * i], std::uint64_t(factors >> 4), std::uint64_t(factors & 15)};
    const auto [id, across, down] = frame.components[i];
    if (across < 1 || across > 4 || down < 1 || down > 4) {
      header.fault = fmt::format("it has sampling factors of {} x {}", across, down);
      return;
    }
    frame.most_across = std::max(frame.most_across, across);
    frame.most_down = std::max(frame.most_down, down);
  }
}

std::uint64_t blocks_of(const ImageHeader& header, const Frame& frame, const Component& component) {
  return divided_up(header.width * component.across, 8 * frame.most_across) *
         divided_up(header.height * component.down, 8 * frame.most_down);
}

// Counts a scan: it visits the blocks of its components once more.
void count_scan(ImageHeader& header, Frame& frame, Bytes content) {
  const std::size_t count = content.empty() ? 0 : content[0];
  if (count < frame.count) frame.several_scans = true;
  for (std::size_t i = 0; i < count && 2 + 2 * i < content.size(); ++i) {
    std::uint64_t blocks = 0;  // several components may claim one name: the largest counts
    for (std::size_t c = 0; c < frame.count; ++c)
      if (frame.components[c].id == content[1 + 2 * i])
        blocks = std::max(blocks, blocks_of(header, frame, frame.components[c]));
    header.blocks += blocks;
  }
}

// RGB, and 2 bytes per coefficient if there are several scans.
std::uint64_t jpeg_bytes_per_pixel(const Frame& frame) {
  std::uint64_t samples = 0;  // of most_across x most_down pixels
  for (std::size_t i = 0; i < frame.count; ++i) samples += frame.components[i].across * frame.components[i].down;
  const std::uint64_t coefficients =
      frame.several_scans ? divided_up(2 * samples, frame.most_across * frame.most_down) : 0;
  return 3 + coefficients;
}

// The next marker that is not a restart marker: where the entropy-coded data that begins at `at` ends.
std::size_t next_marker(Bytes bytes, std::size_t at) {
  while (at < bytes.size()) {
    if (bytes[at] != 0xFF) {
      const void* found = std::memchr(bytes.data() + at, 0xFF, bytes.size() - at);
      if (!found) return bytes.size();
      at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    }
    if (at + 1 >= bytes.size()) return bytes.size();
    const std::uint8_t next = bytes[at + 1];
    if (next == 0xFF)
      ++at;  // a fill byte
    else if (next == 0 || (next >= 0xD0 && next <= 0xD7))
      at += 2;
    else
      return at;
  }
  return at;
}

}  // namespace

std::optional<ImageHeader> jpeg_header(Bytes bytes) {
  if (!starts_with(bytes, 0, "\xFF\xD8\xFF")) return {};
  ImageHeader header;
  header.format = ImageFormat::jpeg;
  header.scans = 0;
  Frame frame;
  bool seen_frame = false;
  Orientation orientation;
  std::size_t begin = 0, at = 2, segments = 0;  // [begin, at) is kept next
  const auto end_header = [&]() -> std::optional<ImageHeader> {
    if (!seen_frame) return {};
    header.bytes_per_pixel = jpeg_bytes_per_pixel(frame);
    return std::move(header);
  };
  while (bytes.size() - at >= 2) {
    const std::uint8_t marker = bytes[at + 1];
    if (bytes[at] != 0xFF || marker == 0) {  // stray bytes, which decoders skip too
      at = next_marker(bytes, at);
      continue;
    }
    if (marker == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0xD9) {
      keep(header, bytes, begin, at + 2);
      header.complete = header.scans > 0;
      return end_header();
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) {  // markers without a length
      at += 2;
      continue;
    }
    if (bytes.size() - at < 4) break;
    const std::size_t length = big_endian(bytes, at + 2, 2);
    if (length < 2) {
      header.fault = fmt::format("its segment at byte {} has a length of {}", at, length);
      return end_header();
    }
    if (length > bytes.size() - at - 2) break;
    if (++segments > kMostSegments) {
      header.fault = fmt::format("it has more than {} segments", kMostSegments);
      return end_header();
    }
    const Bytes content = bytes.subspan(at + 4, length - 2);
    const std::size_t end = at + 2 + length;
    if (is_start_of_frame(marker)) {
      if (content.size() < 6) return {};
      if (seen_frame) {
        header.fault = "it holds several frames";
        return end_header();
      }
      seen_frame = true;
      read_frame(header, frame, marker, content);
      if (!header.fault.empty()) return end_header();
    }
    if (marker == 0xE1) {
      constexpr std::string_view kXmpName("http://ns.adobe.com/xap/1.0/\0", 29);
      orientation.see_exif(orientation_of_segment(content));
      if (starts_with(content, 0, kXmpName)) orientation.see_xmp(as_text(content.subspan(kXmpName.size())));
      header.orientation = orientation.value();
    }
    const bool metadata = marker == 0xFE || (marker >= 0xE1 && marker <= 0xEF && marker != 0xEE);  // except Adobe's
    if (metadata) {
      keep(header, bytes, begin, at);
      begin = end;
    }
    at = end;
    if (marker == 0xDA) {
      if (!seen_frame) return {};
      ++header.scans;
      count_scan(header, frame, content);
      at = next_marker(bytes, at);
    }
  }
  return end_header();
}

}  // namespace agon::image_formats
