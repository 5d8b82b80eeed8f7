#include "core/pictures/image.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/file.h"
#include "core/pictures/image_decoder.h"
#include "core/pictures/image_encoder.h"
#include "core/pictures/image_header.h"
#include "core/text.h"

namespace agon {

struct Image::Pixels {
  int width, height;
  std::vector<std::uint8_t> rgb;
  std::vector<std::uint8_t> jpeg;
  std::once_flag hashed, encoded;
  Hash128 hash;
  std::vector<std::uint8_t> png;
};

namespace {

using Bytes = std::span<const std::uint8_t>;

void check_limits(const ImageHeader& header, const std::string& name, const ImageLimits& limits) {
  const auto side = static_cast<std::uint64_t>(limits.max_side);
  if (header.width == 0 || header.height == 0)
    throw Error("{}: the picture has {} x {} pixels.", name, header.width, header.height);
  if (header.width > side || header.height > side ||
      header.width * header.height > static_cast<std::uint64_t>(limits.max_pixels))
    throw Error("{}: {} x {} pixels are too many (at most {} a side, {} in all). Scale the picture down.", name,
                header.width, header.height, limits.max_side, limits.max_pixels);
  const auto longer = static_cast<double>(std::max(header.width, header.height)),
             shorter = static_cast<double>(std::min(header.width, header.height));
  if (limits.most_elongated > 0 && longer > limits.most_elongated * shorter)
    throw Error("{}: {} x {} pixels: more than {:g} times as long as wide, which no image processor takes. Crop it.",
                name, header.width, header.height, limits.most_elongated);
  if (const std::uint64_t bytes = decode_bytes(header); bytes > static_cast<std::uint64_t>(limits.max_decode_bytes))
    throw Error("{}: decoding {} x {} pixels ({}) takes {} MB (at most {}). Scale the picture down.", name,
                header.width, header.height, header.kind, bytes >> 20, limits.max_decode_bytes >> 20);
  if (header.scans > static_cast<std::uint64_t>(limits.max_scans))
    throw Error("{}: the JPEG has {} scans (at most {}). Save it anew as a baseline JPEG or a PNG.", name, header.scans,
                limits.max_scans);
  if (header.blocks > static_cast<std::uint64_t>(limits.max_blocks))
    throw Error("{}: the JPEG has {} scans of {} blocks in all (at most {}). Save it anew as a baseline JPEG or a PNG.",
                name, header.scans, header.blocks, limits.max_blocks);
}

// The kind of a file that is not a PNG, JPEG or WebP, and what to do about it; empty: unknown.
std::string told_of_other(Bytes encoded) {
  using namespace std::string_view_literals;
  const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  if (text.empty()) return "the file is empty. Is the download complete?";
  const std::string_view start = trim(text.substr(0, 64));
  if (to_lower(start).starts_with("<!doctype html") || to_lower(start).starts_with("<html"))
    return "an HTML page, not a picture. Was the download refused?";
  if (start.starts_with("version https://git-lfs"))
    return "a Git LFS pointer, not a picture. Run git lfs pull in its repository.";
  const std::tuple<std::size_t, std::string_view, const char*> known[] = {
      {0, "GIF8", "a GIF"},           {0, "BM", "a BMP"},
      {0, "II*\0"sv, "a TIFF"},       {0, "MM\0*"sv, "a TIFF"},
      {4, "ftypavi", "an AVIF"},      {4, "ftyphe", "a HEIC"},
      {4, "ftypmif1", "a HEIF"},      {4, "ftypmsf1", "a HEIF"},
      {0, "\xFF\x0A", "a JPEG XL"},   {4, "JXL \r\n", "a JPEG XL"},
      {4, "jP  \r\n", "a JPEG 2000"}, {0, "\xFF\x4F\xFF\x51", "a JPEG 2000"},
      {0, "\0\0\1\0"sv, "an icon"},   {0, "%PDF", "a PDF"},
      {0, "8BPS", "a PSD"},           {0, "<svg", "an SVG"},
      {0, "<?xml", "an SVG"},         {0, "qoif", "a QOI"}};
  for (const auto& [at, magic, name] : known)
    if (text.size() > at && text.substr(at).starts_with(magic))
      return fmt::format("{}, which is not read here. Convert it to PNG, JPEG or WebP.", name);
  return {};
}

ImageHeader checked_header(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  std::optional<ImageHeader> header = read_image_header(encoded);
  if (const std::string told = header ? std::string() : told_of_other(encoded); !told.empty())
    throw Error("{}: {}", name, told);
  if (!header)
    throw Error("{}: not a PNG, JPEG or WebP picture, or its header is damaged ({} bytes).", name, encoded.size());
  check_limits(*header, name, limits);
  if (!header->fault.empty())
    throw Error("{}: the picture cannot be decoded: {}. Save it anew as a PNG or a baseline JPEG.", name,
                header->fault);
  return *std::move(header);
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

void require_end(const ImageHeader& header, const std::string& name) {
  if (!header.complete) throw Error("{}: the picture is cut off. Is the download complete?", name);
}

std::string first_bytes(const std::filesystem::path& path, std::size_t most) {
  std::string start(most, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

std::string last_bytes(const std::filesystem::path& path, std::streamoff count) {
  std::string end(static_cast<std::size_t>(count), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(-count, std::ios::end);
  file.read(end.data(), count);
  end.resize(static_cast<std::size_t>(file.gcount()));
  return end;
}

// Whether the file ends as a complete one does. Other files may be complete too, with more bytes after their end.
bool ends_well(const ImageHeader& header, const std::filesystem::path& path, std::string_view start) {
  switch (header.format) {
    case ImageFormat::png:
      return last_bytes(path, 12) == std::string_view("\0\0\0\0IEND\xAE\x42\x60\x82", 12);
    case ImageFormat::jpeg:
      return last_bytes(path, 2) == "\xFF\xD9";
    case ImageFormat::webp: {
      std::uint64_t size = 0;
      for (std::size_t i = 8; i-- > 4;) size = size << 8 | static_cast<std::uint8_t>(start[i]);
      return size + 8 <= std::filesystem::file_size(path);
    }
  }
  return false;
}

ImageHeader header_to_decode(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  check_size(encoded.size(), name, limits);
  ImageHeader header = checked_header(encoded, name, limits);
  require_end(header, name);
  return header;
}

// The JPEG file without parts that no decoder needs; empty if decoders may disagree about it, or for other formats.
std::vector<std::uint8_t> plain_jpeg(const ImageHeader& header) {
  if (header.format != ImageFormat::jpeg || header.orientation != 1 || header.kind == "CMYK") return {};
  std::vector<std::uint8_t> file = header.lead;
  for (const Bytes part : header.parts) file.insert(file.end(), part.begin(), part.end());
  return file;
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
Bytes Image::jpeg() const { return pixels_ ? Bytes(pixels_->jpeg) : Bytes(); }

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

Bytes Image::png() const {
  assert(pixels_);
  std::call_once(pixels_->encoded, [this] { pixels_->png = encode_compact_png(*this); });
  return pixels_->png;
}

bool Image::operator==(const Image& other) const {
  if (pixels_ == other.pixels_) return true;
  const Bytes mine = rgb(), theirs = other.rgb();
  return width() == other.width() && height() == other.height() &&
         std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end());
}

Image decode_image(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  const ImageHeader header = header_to_decode(encoded, name, limits);
  Image image = decode_apart(header, name, limits, true);
  image.pixels_->jpeg = plain_jpeg(header);
  return image;
}

void verify_image(Bytes encoded, const std::string& name, const ImageLimits& limits) {
  decode_apart(header_to_decode(encoded, name, limits), name, limits, false);
}

std::filesystem::path picture_path(const std::string& name, const std::filesystem::path& folder) {
  constexpr std::size_t kMost = 40;  // bytes of a URL, which may hold the picture itself
  if (name.empty()) throw Error("an empty text does not name a picture; leave it out");
  std::error_code code;
  std::filesystem::path path = folder / name;
  const bool address = name.find("://") != std::string::npos || name.starts_with("data:");
  if (address && !std::filesystem::exists(path, code))
    throw Error("the picture {}{} is a URL, and agon reads pictures only from files. Give the path of a file",
                valid_utf8(name.substr(0, kMost)), name.size() > kMost ? "..." : "");
  return path;
}

Image load_image(const std::filesystem::path& path, const ImageLimits& limits) {
  check_file(path, limits);
  return decode_image(bytes_of(read_file(path.string())), path.string(), limits);
}

void check_image(const std::filesystem::path& path, const ImageLimits& limits) {
  check_file(path, limits);
  const std::string start = first_bytes(path, 1 << 16);
  const std::optional<ImageHeader> seen = read_image_header(bytes_of(start));
  const bool enough = seen && (seen->complete || !seen->fault.empty() || ends_well(*seen, path, start));
  // A JPEG may have its size after long metadata, and any picture may have more bytes after its end.
  const std::string whole = enough ? "" : read_file(path.string());
  const ImageHeader header = checked_header(bytes_of(enough ? start : whole), path.string(), limits);
  if (!enough) require_end(header, path.string());
}

std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format, int quality) {
  assert(quality >= 1 && quality <= 100);
  if (image.empty()) throw Error("encode_image: the image is empty; there is nothing to write.");
  switch (format) {
    case ImageFormat::png:
      return encode_png(image);
    case ImageFormat::jpeg:
      return encode_jpeg(image, quality);
    case ImageFormat::webp:
      return encode_webp(image, quality);
  }
  return {};
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
