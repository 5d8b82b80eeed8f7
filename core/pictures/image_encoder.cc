#include "core/pictures/image_encoder.h"

#include <png.h>
#include <webp/encode.h>

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

// libjpeg's header names FILE and size_t without including what declares them.
#include <jpeglib.h>

#include "core/error.h"

namespace agon {
namespace {

struct Free {
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};
struct FreeWebP {
  void operator()(std::uint8_t* bytes) const { WebPFree(bytes); }
};

[[noreturn]] void fail(const Image& image, const char* format) {
  throw Error("image of {} x {}: cannot be encoded as {}. Use PNG, or scale it down.", image.width(), image.height(),
              format);
}

void require_sides(const Image& image, const char* format, int most) {
  if (image.width() > most || image.height() > most)
    throw Error("image of {} x {}: {} holds at most {} pixels a side. Use PNG, or scale it down.", image.width(),
                image.height(), format, most);
}

void append(png_structp png, png_bytep data, png_size_t size) {
  auto& bytes = *static_cast<std::vector<std::uint8_t>*>(png_get_io_ptr(png));
  bytes.insert(bytes.end(), data, data + size);
}

// A picture of few colours: the colours, and each pixel's number among them.
struct Indexed {
  std::vector<png_color> colours;
  std::vector<std::uint8_t> pixels;
};

// Numbers colours in order of appearance, up to 256.
class ColourTable {
 public:
  // Nothing: there are more than 256 colours.
  std::optional<std::uint8_t> number_of(std::uint32_t rgb) {
    std::size_t at = (rgb * 0x9e3779b1u) >> (32 - kBits);
    while (slots_[at].used && slots_[at].rgb != rgb) at = (at + 1) % slots_.size();
    if (!slots_[at].used) {
      if (colours_.size() == 256) return std::nullopt;
      slots_[at] = {rgb, static_cast<std::uint8_t>(colours_.size()), true};
      colours_.push_back(
          {static_cast<png_byte>(rgb >> 16), static_cast<png_byte>(rgb >> 8), static_cast<png_byte>(rgb)});
    }
    return slots_[at].number;
  }
  std::vector<png_color> take() { return std::move(colours_); }

 private:
  static constexpr int kBits = 10;  // so that at most a quarter is used
  struct Slot {
    std::uint32_t rgb = 0;
    std::uint8_t number = 0;
    bool used = false;
  };
  std::array<Slot, std::size_t{1} << kBits> slots_;
  std::vector<png_color> colours_;
};

std::optional<Indexed> indexed(const Image& image) {
  const std::span<const std::uint8_t> rgb = image.rgb();
  Indexed result;
  result.pixels.resize(rgb.size() / 3);
  ColourTable table;
  for (std::size_t i = 0; i < result.pixels.size(); ++i) {
    const auto number =
        table.number_of(std::uint32_t{rgb[3 * i]} << 16 | std::uint32_t{rgb[3 * i + 1]} << 8 | rgb[3 * i + 2]);
    if (!number) return std::nullopt;
    result.pixels[i] = *number;
  }
  result.colours = table.take();
  return result;
}

// `indexed`: of the image, or null. False: libpng jumped out. Nothing in here has a destructor.
bool write_png(png_structp png, png_infop info, const Image& image, const Indexed* indexed) {
  constexpr int kAnyMatch = 0, kRunsAlone = 3;  // strategies of zlib
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_filter(png, PNG_FILTER_TYPE_BASE, indexed ? PNG_FILTER_NONE : PNG_FILTER_SUB);
  png_set_compression_level(png, 1);
  png_set_compression_strategy(png, indexed ? kAnyMatch : kRunsAlone);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width()), static_cast<png_uint_32>(image.height()), 8,
               indexed ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (indexed) png_set_PLTE(png, info, indexed->colours.data(), static_cast<int>(indexed->colours.size()));
  png_write_info(png, info);
  const std::uint8_t* const rows = indexed ? indexed->pixels.data() : image.rgb().data();
  const std::size_t stride = static_cast<std::size_t>(image.width()) * (indexed ? 1 : 3);
  for (int y = 0; y < image.height(); ++y) png_write_row(png, rows + static_cast<std::size_t>(y) * stride);
  png_write_end(png, info);
  return true;
}

std::vector<std::uint8_t> png_of(const Image& image, const Indexed* indexed) {
  std::vector<std::uint8_t> bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (info) png_set_write_fn(png, &bytes, append, nullptr);
  const bool done = info && write_png(png, info, image, indexed);
  png_destroy_write_struct(&png, &info);
  if (!done) fail(image, "PNG");
  return bytes;
}

struct JpegFault {
  jpeg_error_mgr errors;
  std::jmp_buf jump;
};

// False: libjpeg jumped out. Nothing in here has a destructor; *bytes is the caller's to free.
bool write_jpeg(const Image& image, int quality, unsigned char** bytes, unsigned long* size) {
  jpeg_compress_struct jpeg{};
  JpegFault fault{};
  jpeg.err = jpeg_std_error(&fault.errors);
  fault.errors.error_exit = [](j_common_ptr common) {
    std::longjmp(reinterpret_cast<JpegFault*>(common->err)->jump, 1);
  };
  fault.errors.output_message = [](j_common_ptr) {};
  if (setjmp(fault.jump)) {
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, bytes, size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width());
  jpeg.image_height = static_cast<JDIMENSION>(image.height());
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<std::uint8_t*>(image.rgb().data()) + std::size_t(jpeg.next_scanline) * jpeg.image_width * 3;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

std::vector<std::uint8_t> encode_png(const Image& image) { return png_of(image, nullptr); }

std::vector<std::uint8_t> encode_compact_png(const Image& image) {
  const std::optional<Indexed> few_colours = indexed(image);
  return png_of(image, few_colours ? &*few_colours : nullptr);
}

std::vector<std::uint8_t> encode_jpeg(const Image& image, int quality) {
  require_sides(image, "JPEG", 65'500);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const bool done = write_jpeg(image, quality, &bytes, &size);
  const std::unique_ptr<std::uint8_t, Free> owned(bytes);
  if (!done) fail(image, "JPEG");
  return {bytes, bytes + size};
}

std::vector<std::uint8_t> encode_webp(const Image& image, int quality) {
  require_sides(image, "WebP", WEBP_MAX_DIMENSION);
  std::uint8_t* bytes = nullptr;
  const std::size_t size = WebPEncodeRGB(image.rgb().data(), image.width(), image.height(), image.width() * 3,
                                         static_cast<float>(quality), &bytes);
  const std::unique_ptr<std::uint8_t, FreeWebP> owned(bytes);
  if (size == 0) fail(image, "WebP");
  return {bytes, bytes + size};
}

}  // namespace agon
