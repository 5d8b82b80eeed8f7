#include "core/image_header.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace agon {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kMostSegments = 20'000;  // of a JPEG; 256 MB of metadata make 4,096

bool starts_with(Bytes bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at && bytes.size() - at >= magic.size() &&
         std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

// REQUIRES: at + count <= bytes.size(), count <= 8.
std::uint64_t big_endian(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes[at + i];
  return value;
}
std::uint64_t little_endian(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

// Adds bytes[begin, end) to the parts, joined to the last one where it goes on there.
void keep(ImageHeader& header, Bytes bytes, std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  if (!header.parts.empty()) {
    Bytes& last = header.parts.back();
    if (last.data() + last.size() == bytes.data() + begin) {
      last = {last.data(), last.size() + (end - begin)};
      return;
    }
  }
  header.parts.push_back(bytes.subspan(begin, end - begin));
}

// ---- EXIF

constexpr std::string_view kExifName("Exif\0\0", 6);

// The orientation that a TIFF directory gives, if it does.
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

// The same of a JPEG's APP1 segment, where the directory stands behind a name.
std::optional<int> orientation_of_segment(Bytes content) {
  return starts_with(content, 0, kExifName) ? orientation_of_tiff(content.subspan(kExifName.size())) : std::nullopt;
}

// The same of a chunk of PNG or WebP, where some writers leave the name in.
std::optional<int> orientation_of_chunk(Bytes content) {
  return starts_with(content, 0, kExifName) ? orientation_of_segment(content) : orientation_of_tiff(content);
}

// The orientation that an XMP packet gives, if it does.
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

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// What a file's EXIF and XMP say of its orientation. EXIF counts first, and the first of each.
struct Orientation {
  std::optional<int> exif, xmp;
  void see_exif(std::optional<int> value) {
    if (!exif) exif = value;
  }
  void see_xmp(std::string_view packet) {
    if (!xmp) xmp = orientation_of_xmp(packet);
  }
  int value() const { return exif.value_or(xmp.value_or(1)); }
};

// ---- PNG

constexpr std::size_t kMostInflated = 1 << 20;  // of a text chunk; EXIF has at most 64 KiB
constexpr int kMostProfiles = 8;                // text chunks that are looked into

// As far as it fits and is whole.
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

// What a text chunk (tEXt, zTXt, iTXt) holds behind its keyword; nothing where that is another.
std::optional<std::string> text_of_chunk(Bytes content, std::string_view type, std::string_view keyword) {
  if (!starts_with(content, 0, keyword) || content.size() <= keyword.size() || content[keyword.size()] != 0) return {};
  Bytes rest = content.subspan(keyword.size() + 1);
  bool compressed = type == "zTXt";
  if (type == "zTXt" && !rest.empty()) rest = rest.subspan(1);  // how: there is but one way
  if (type == "iTXt") {  // compressed, how, a language and a translated keyword, each with a zero behind it
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

// ImageMagick's way to keep EXIF in a PNG: a name, a number of bytes, and those in hexadecimal digits.
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

// True where it is a chunk that may say something.
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

// What the decoder holds: the picture as RGB, or, where passes or alpha ask for it, as RGBA first.
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
  enum class Data { ahead, here, behind } data = Data::ahead;  // what lies in one piece is the picture
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
    } else if (is("eXIf") || is("tEXt") || is("zTXt") || is("iTXt")) {  // before the picture or behind it
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

// ---- JPEG

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

// A start of scan: the blocks of its components are visited once more.
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

// RGB; CMYK first; 2 bytes of every coefficient where scans refine them.
std::uint64_t jpeg_bytes_per_pixel(const Frame& frame) {
  std::uint64_t samples = 0;  // of most_across x most_down pixels
  for (std::size_t i = 0; i < frame.count; ++i) samples += frame.components[i].across * frame.components[i].down;
  const std::uint64_t coefficients =
      frame.several_scans ? divided_up(2 * samples, frame.most_across * frame.most_down) : 0;
  return 3 + coefficients;
}

// The next marker except those of restarts: where the entropy-coded data that begins at `at` ends.
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
    if (bytes[at] != 0xFF || marker == 0) {  // stray bytes, which decoders pass over as well
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
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) {  // without a length
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
    const bool metadata = marker == 0xFE || (marker >= 0xE1 && marker <= 0xEF && marker != 0xEE);  // but Adobe's
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

// ---- WebP

void append_little_endian(std::vector<std::uint8_t>& bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void append(std::vector<std::uint8_t>& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// The sides in a "VP8 " or "VP8L" chunk's content; nothing if it is cut off or is none.
std::optional<std::pair<std::uint64_t, std::uint64_t>> webp_sides(Bytes content, bool lossless) {
  if (lossless) {
    if (content.size() < 5 || content[0] != 0x2F) return {};
    const std::uint64_t bits = little_endian(content, 1, 4);
    return std::pair((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
  }
  if (!starts_with(content, 3, "\x9D\x01\x2A") || content.size() < 10) return {};
  return std::pair(little_endian(content, 6, 2) & 0x3FFF, little_endian(content, 8, 2) & 0x3FFF);
}

// WebP has no checksums, and a decoder takes zeros for data. The data of a flat picture may end in zeros too, but for a
// twentieth of its length at most.
bool ends_in_zeros(Bytes content) {
  constexpr std::size_t kFew = 64;
  const auto last = std::find_if(content.rbegin(), content.rend(), [](std::uint8_t byte) { return byte != 0; });
  const auto zeros = static_cast<std::size_t>(last - content.rbegin());
  return zeros > kFew && zeros > content.size() / 5;
}

// Finds the picture among the chunks of bytes[at, end): of the file, or of an animation's frame. The header's sides are
// those that the container gives; 0 x 0: it gives none.
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
      // RGB or RGBA, and what that is made of: for alpha a plane, and a lossless picture that it is packed as.
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

// What the file's chunks, bytes[at, end), say of its orientation: those that its header names by their flags.
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

}  // namespace

std::optional<ImageHeader> read_image_header(Bytes bytes) {
  std::optional<ImageHeader> header = png_header(bytes);
  if (!header) header = jpeg_header(bytes);
  return header ? header : webp_header(bytes);
}

}  // namespace agon
