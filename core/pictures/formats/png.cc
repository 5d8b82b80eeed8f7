#include "core/pictures/formats/png.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/pictures/formats/orientation.h"
#include "core/pictures/formats/parts.h"

namespace agon::image_formats {
namespace {

constexpr std::size_t kMostInflated = 1 << 20;  // of a text chunk; EXIF has at most 64 KiB
constexpr int kMostProfiles = 8;                // text chunks that are looked into

// The text, as far as it fits and is intact.
std::string inflated(Bytes compressed) {
  std::string text(std::min(kMostInflated, 1100 * compressed.size() + 64), '\0');  // deflate's best is 1 : 1032
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) return {};
  stream.next_in = const_cast<Bytef*>(compressed.data());
  stream.avail_in = static_cast<uInt>(std::min<std::size_t>(compressed.size(), kMostInflated));
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  ::inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  ::inflateEnd(&stream);
  return text;
}

// The text of a chunk (tEXt, zTXt, iTXt) after its keyword; nothing for another keyword.
std::optional<std::string> text_of_chunk(Bytes content, std::string_view type, std::string_view keyword) {
  if (!starts_with(content, 0, keyword) || content.size() <= keyword.size() || content[keyword.size()] != 0) return {};
  Bytes rest = content.subspan(keyword.size() + 1);
  bool compressed = type == "zTXt";
  if (type == "zTXt" && !rest.empty()) rest = rest.subspan(1);  // compression method: only one exists
  if (type == "iTXt") {  // compressed?, method; language and translated keyword, each followed by a zero
    if (rest.size() < 2) return {};
    compressed = rest[0] != 0;
    rest = rest.subspan(2);
    for (int i = 0; i < 2; ++i) {
      const auto zero = std::find(rest.begin(), rest.end(), 0);
      if (zero == rest.end()) return {};
      rest = rest.subspan(static_cast<std::size_t>(zero - rest.begin()) + 1);
    }
  }
  return compressed ? inflated(rest) : std::string(rest.begin(), rest.end());
}

// ImageMagick's form of EXIF in a PNG: a name, a number of bytes, and the bytes as hexadecimal digits.
std::optional<int> orientation_of_raw_profile(const std::string& profile) {
  std::size_t at = profile.find_first_not_of('\n');
  for (int line = 0; line < 2 && at != profile.npos; ++line) at = profile.find('\n', at + 1);
  std::vector<std::uint8_t> bytes;
  int high = -1;
  for (; at < profile.size(); ++at) {
    const char c = profile[at];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) continue;
    if (high >= 0) bytes.push_back(static_cast<std::uint8_t>(high << 4 | digit));
    high = high >= 0 ? -1 : digit;
  }
  return orientation_of_chunk(bytes);
}

// Whether the chunk has one of the keywords that may give an orientation.
bool see_text_chunk(Orientation& orientation, Bytes content, std::string_view type) {
  const std::string_view xmp = "XML:com.adobe.xmp";
  for (const std::string_view keyword :
       {std::string_view("Raw profile type exif"), std::string_view("Raw profile type APP1"), xmp}) {
    const auto text = text_of_chunk(content, type, keyword);
    if (!text) continue;
    if (keyword == xmp)
      orientation.see_xmp(*text);
    else
      orientation.see_exif(orientation_of_raw_profile(*text));
    return true;
  }
  return false;
}

// Sets kind, fault and memory. The decoder holds the picture as RGB or, if it is interlaced, at most as RGBA.
void describe_png(ImageHeader& header, std::uint8_t depth, std::uint8_t color, std::uint8_t interlace) {
  const bool deep = depth == 16;
  switch (color) {
    case 0:
      header.kind = deep ? "16-bit gray" : "gray";
      break;
    case 2:
      header.kind = deep ? "16-bit RGB" : "RGB";
      break;
    case 3:
      header.kind = "palette";
      break;
    case 4:
      header.kind = deep ? "16-bit gray with alpha" : "gray with alpha";
      break;
    case 6:
      header.kind = deep ? "16-bit RGB with alpha" : "RGB with alpha";
      break;
    default:
      header.fault = fmt::format("PNG knows no colour type {}", color);
      break;
  }
  const bool fits = (depth == 8 || (deep && color != 3) || (color == 0 && (depth == 1 || depth == 2 || depth == 4)) ||
                     (color == 3 && (depth == 1 || depth == 2 || depth == 4)));
  if (header.fault.empty() && !fits) header.fault = fmt::format("{} bits a sample do not fit its colour type", depth);
  if (header.fault.empty() && interlace > 1) header.fault = fmt::format("PNG knows no interlacing {}", interlace);
  header.bytes_per_pixel = interlace == 0 ? 3 : 4;
}

}  // namespace

std::optional<ImageHeader> png_header(Bytes bytes) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, name and checksum of a chunk
  if (!starts_with(bytes, 0, "\x89PNG\r\n\x1a\n") || !starts_with(bytes, 12, "IHDR") || bytes.size() < 29) return {};
  if (big_endian(bytes, 8, 4) != 13) return {};
  ImageHeader header;
  header.format = ImageFormat::png;
  header.width = big_endian(bytes, 16, 4);
  header.height = big_endian(bytes, 20, 4);
  describe_png(header, bytes[24], bytes[25], bytes[28]);
  bool palette = false, transparency = false;
  Orientation orientation;
  int profiles = 0;
  enum class Data { ahead, here, behind } data = Data::ahead;  // only the first run of IDAT chunks is the picture
  for (std::size_t at = kSignature; bytes.size() - at >= kAround;) {
    const std::uint64_t size = big_endian(bytes, at, 4);
    if (size > bytes.size() - at - kAround) return header;  // cut off
    const std::size_t end = at + kAround + size;
    const auto is = [&](const char* name) { return starts_with(bytes, at + 4, name); };
    if (is("IEND")) {
      keep(header, bytes, at, end);
      header.complete = true;
      return header;
    }
    if (at == kSignature) {
      keep(header, bytes, 0, end);
    } else if (is("eXIf") || is("tEXt") || is("zTXt") || is("iTXt")) {  // before or after the picture
      const Bytes content = bytes.subspan(at + 8, size);
      if (is("eXIf"))
        orientation.see_exif(orientation_of_chunk(content));
      else if (profiles < kMostProfiles)
        profiles += see_text_chunk(orientation, content, is("tEXt") ? "tEXt" : is("zTXt") ? "zTXt" : "iTXt");
      header.orientation = orientation.value();
      if (data == Data::here) data = Data::behind;
    } else if (is("IDAT") && data != Data::behind) {
      data = Data::here;
      keep(header, bytes, at, end);
    } else if (data != Data::ahead) {
      data = Data::behind;
    } else if ((is("PLTE") && !std::exchange(palette, true)) || (is("tRNS") && !std::exchange(transparency, true))) {
      keep(header, bytes, at, end);
    }
    at = end;
  }
  return header;
}

}  // namespace agon::image_formats
