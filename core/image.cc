#include "core/image.h"

#include <array>
#include <cassert>
#include <fstream>
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/text.h"

namespace agon {

struct Image::Pixels {
  int width, height;
  std::vector<std::uint8_t> rgb;
  std::once_flag hashed;
  Hash128 hash;
};

namespace {

using Bytes = std::span<const std::uint8_t>;

struct Header {
  ImageFormat format;
  std::uint64_t width = 0, height = 0;
  bool complete = true;  // the end mark is there (PNG and JPEG)
};

bool starts_with(Bytes bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at + magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin() + at,
                                                         [](char a, std::uint8_t b) { return std::uint8_t(a) == b; });
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

// The size fields of the three formats, read without decoding. Nothing: not that format, or damaged before them.
std::optional<Header> png_header(Bytes bytes) {
  if (!starts_with(bytes, 0, "\x89PNG\r\n\x1a\n") || !starts_with(bytes, 12, "IHDR") || bytes.size() < 24) return {};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Header{ImageFormat::png, big_endian(bytes, 16, 4), big_endian(bytes, 20, 4),
                text.rfind("IEND") != std::string_view::npos};
}

bool is_start_of_frame(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

std::optional<Header> jpeg_header(Bytes bytes) {
  if (!starts_with(bytes, 0, "\xFF\xD8\xFF")) return {};
  std::optional<Header> header;
  for (std::size_t at = 2; at + 4 <= bytes.size();) {
    if (bytes[at] != 0xFF) return {};
    const std::uint8_t marker = bytes[at + 1];
    if (marker == 0xFF) {  // fill byte
      ++at;
      continue;
    }
    const std::size_t length = big_endian(bytes, at + 2, 2);
    if (is_start_of_frame(marker)) {
      if (at + 9 > bytes.size()) return {};
      header = {ImageFormat::jpeg, big_endian(bytes, at + 7, 2), big_endian(bytes, at + 5, 2), false};
    }
    if (marker == 0xDA && header) {  // start of scan: what follows must hold the end mark
      const std::string_view rest(reinterpret_cast<const char*>(bytes.data()) + at, bytes.size() - at);
      header->complete = rest.rfind("\xFF\xD9") != std::string_view::npos;
      return header;
    }
    at += 2 + length;
  }
  return header;
}

std::optional<Header> webp_header(Bytes bytes) {
  if (!starts_with(bytes, 0, "RIFF") || !starts_with(bytes, 8, "WEBP") || bytes.size() < 30) return {};
  const bool complete = little_endian(bytes, 4, 4) + 8 <= bytes.size();
  if (starts_with(bytes, 12, "VP8X"))
    return Header{ImageFormat::webp, little_endian(bytes, 24, 3) + 1, little_endian(bytes, 27, 3) + 1, complete};
  if (starts_with(bytes, 12, "VP8L")) {
    const std::uint64_t bits = little_endian(bytes, 21, 4);
    return Header{ImageFormat::webp, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, complete};
  }
  if (starts_with(bytes, 12, "VP8 "))
    return Header{ImageFormat::webp, little_endian(bytes, 26, 2) & 0x3FFF, little_endian(bytes, 28, 2) & 0x3FFF,
                  complete};
  return {};
}

// OpenCV reads no animation: the chunks of the first frame as a still WebP of their own; nothing if it holds none.
std::optional<std::vector<std::uint8_t>> first_webp_frame(Bytes bytes) {
  constexpr std::uint8_t kAlpha = 0x10, kAnimation = 0x02;
  if (!starts_with(bytes, 12, "VP8X") || !(bytes[20] & kAnimation)) return {};
  for (std::size_t at = 12; at + 24 <= bytes.size();) {
    const std::size_t size = little_endian(bytes, at + 4, 4);
    if (starts_with(bytes, at, "ANMF") && size >= 16 && at + 8 + size <= bytes.size()) {
      const Bytes sides = bytes.subspan(at + 14, 6), chunks = bytes.subspan(at + 24, size - 16);
      std::vector<std::uint8_t> still(bytes.begin(), bytes.begin() + 20);  // RIFF, size, WEBP, VP8X, 10
      still.insert(still.end(), {kAlpha, 0, 0, 0});
      still.insert(still.end(), sides.begin(), sides.end());
      still.insert(still.end(), chunks.begin(), chunks.end());
      for (std::size_t i = 0; i < 4; ++i) still[4 + i] = static_cast<std::uint8_t>((still.size() - 8) >> 8 * i);
      return still;
    }
    at += 8 + size + size % 2;
  }
  return {};
}

void check_limits(const Header& header, const std::string& name, const ImageLimits& limits) {
  const auto side = static_cast<std::uint64_t>(limits.max_side);
  if (header.width == 0 || header.height == 0)
    throw Error("{}: the picture has {} x {} pixels.", name, header.width, header.height);
  if (header.width > side || header.height > side ||
      header.width * header.height > static_cast<std::uint64_t>(limits.max_pixels))
    throw Error("{}: {} x {} pixels are too many (at most {} a side, {} in all). Scale the picture down.", name,
                header.width, header.height, limits.max_side, limits.max_pixels);
}

std::optional<Header> find_header(Bytes encoded) {
  std::optional<Header> header = png_header(encoded);
  if (!header) header = jpeg_header(encoded);
  return header ? header : webp_header(encoded);
}

Header checked_header(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  const std::optional<Header> header = find_header(encoded);
  if (!header)
    throw Error("{}: not a PNG, JPEG or WebP picture, or its header is damaged ({} bytes).", name, encoded.size());
  check_limits(*header, name, limits);
  return *header;
}

void check_size(std::uintmax_t bytes, const std::string& name, const ImageLimits& limits) {
  if (bytes > static_cast<std::uintmax_t>(limits.max_encoded_bytes))
    throw Error("{}: {} bytes are too many for a picture (at most {}).", name, bytes, limits.max_encoded_bytes);
}

// Throws Error unless `path` is a file within the limits.
void check_file(const std::filesystem::path& path, const ImageLimits& limits) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) throw Error("{}: no such picture. Check the path.", path.string());
  if (!std::filesystem::is_regular_file(path, code)) throw Error("{}: not a file.", path.string());
  if (const std::uintmax_t size = std::filesystem::file_size(path, code); !code)
    check_size(size, path.string(), limits);
}

Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Any 8- or 16-bit picture with 1, 3 or 4 channels (BGR order) as 8-bit RGB, alpha laid over white.
cv::Mat to_rgb(cv::Mat pixels) {
  if (pixels.depth() == CV_16U) pixels.convertTo(pixels, CV_8U, 1.0 / 257.0);
  cv::Mat rgb;
  if (pixels.channels() == 1) {
    cv::cvtColor(pixels, rgb, cv::COLOR_GRAY2RGB);
  } else if (pixels.channels() == 3) {
    cv::cvtColor(pixels, rgb, cv::COLOR_BGR2RGB);
  } else {
    rgb.create(pixels.size(), CV_8UC3);
    for (int y = 0; y < pixels.rows; ++y) {
      const auto* from = pixels.ptr<std::uint8_t>(y);
      auto* to = rgb.ptr<std::uint8_t>(y);
      for (int x = 0; x < pixels.cols; ++x, from += 4, to += 3)
        for (int c = 0; c < 3; ++c)
          to[c] = static_cast<std::uint8_t>((from[2 - c] * from[3] + 255 * (255 - from[3]) + 127) / 255);
    }
  }
  return rgb;
}

const char* extension_of(ImageFormat format) {
  return format == ImageFormat::png ? ".png" : format == ImageFormat::jpeg ? ".jpg" : ".webp";
}

}  // namespace

Image::Image(int width, int height, std::vector<std::uint8_t> rgb) : pixels_(std::make_shared<Pixels>()) {
  assert(width > 0 && height > 0 && rgb.size() == std::size_t(width) * std::size_t(height) * 3);
  pixels_->width = width;
  pixels_->height = height;
  pixels_->rgb = std::move(rgb);
}

int Image::width() const { return pixels_ ? pixels_->width : 0; }
int Image::height() const { return pixels_ ? pixels_->height : 0; }
Bytes Image::rgb() const { return pixels_ ? Bytes(pixels_->rgb) : Bytes(); }

const Hash128& Image::hash() const {
  static const Hash128 of_nothing;
  if (!pixels_) return of_nothing;
  std::call_once(pixels_->hashed, [this] {
    const Hash128 content = hash_bytes(pixels_->rgb);
    const std::array<std::uint64_t, 4> key = {content.high, content.low, std::uint64_t(width()),
                                              std::uint64_t(height())};
    pixels_->hash = hash_bytes({reinterpret_cast<const std::uint8_t*>(key.data()), sizeof(key)});
  });
  return pixels_->hash;
}

bool Image::operator==(const Image& other) const {
  if (pixels_ == other.pixels_) return true;
  const Bytes mine = rgb(), theirs = other.rgb();
  return width() == other.width() && height() == other.height() &&
         std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end());
}

Image decode_image(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  check_size(encoded.size(), name, limits);
  const Header header = checked_header(encoded, name, limits);
  if (!header.complete) throw Error("{}: the picture is cut off. Is the download complete?", name);
  if (header.format == ImageFormat::webp)
    if (const auto still = first_webp_frame(encoded)) return decode_image(*still, name, limits);
  // OpenCV turns pictures by EXIF only in colour mode, where alpha is lost; JPEG has none.
  const int mode = header.format == ImageFormat::jpeg ? cv::IMREAD_COLOR : cv::IMREAD_UNCHANGED;
  cv::Mat rgb;
  try {
    const cv::Mat input(1, static_cast<int>(encoded.size()), CV_8U, const_cast<std::uint8_t*>(encoded.data()));
    if (cv::Mat decoded = cv::imdecode(input, mode); !decoded.empty()) rgb = to_rgb(decoded);
  } catch (const cv::Exception& exception) {
    throw Error("{}: the picture cannot be decoded: {}", name, exception.err);
  }
  if (rgb.empty()) throw Error("{}: the picture is damaged and cannot be decoded.", name);
  return Image(rgb.cols, rgb.rows, {rgb.data, rgb.data + rgb.total() * 3});
}

Image load_image(const std::filesystem::path& path, const ImageLimits& limits) {
  check_file(path, limits);
  return decode_image(bytes_of(read_file(path.string())), path.string(), limits);
}

void check_image(const std::filesystem::path& path, const ImageLimits& limits) {
  check_file(path, limits);
  std::string start(1 << 16, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  // A JPEG may hold its size behind long metadata.
  if (!find_header(bytes_of(start))) start = read_file(path.string());
  checked_header(bytes_of(start), path.string(), limits);
}

std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format, int quality) {
  assert(quality >= 1 && quality <= 100);
  if (image.empty()) throw Error("encode_image: the image is empty; there is nothing to write.");
  const cv::Mat rgb(image.height(), image.width(), CV_8UC3, const_cast<std::uint8_t*>(image.rgb().data()));
  cv::Mat bgr;
  cv::cvtColor(rgb, bgr, cv::COLOR_RGB2BGR);
  std::vector<int> parameters;
  if (format == ImageFormat::jpeg) parameters = {cv::IMWRITE_JPEG_QUALITY, quality};
  if (format == ImageFormat::webp) parameters = {cv::IMWRITE_WEBP_QUALITY, quality};
  std::vector<std::uint8_t> encoded;
  try {
    if (cv::imencode(extension_of(format), bgr, encoded, parameters)) return encoded;
  } catch (const cv::Exception& exception) {
    throw Error("image of {} x {}: cannot be encoded as {}: {}", image.width(), image.height(), extension_of(format),
                exception.err);
  }
  throw Error("image of {} x {}: cannot be encoded as {}.", image.width(), image.height(), extension_of(format));
}

void save_image(const Image& image, const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  std::optional<ImageFormat> format;
  if (extension == ".png") format = ImageFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") format = ImageFormat::jpeg;
  if (extension == ".webp") format = ImageFormat::webp;
  if (!format)
    throw Error("{}: no picture format has the ending '{}'. Use .png, .jpg or .webp.", path.string(), extension);
  const std::vector<std::uint8_t> encoded = encode_image(image, *format);
  write_file_atomically(path.string(), {reinterpret_cast<const char*>(encoded.data()), encoded.size()});
}

}  // namespace agon
