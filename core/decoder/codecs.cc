#include "core/decoder/codecs.h"

#include <png.h>
#include <webp/decode.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>  // which jpeglib.h needs
#include <cstring>
#include <vector>

#include <jpeglib.h>
// After jpeglib.h, because it uses its types.
#include <jerror.h>

namespace agon::decoder {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Not set to zero: every codec writes each row.
std::unique_ptr<std::uint8_t[]> rows_of(std::size_t width, std::size_t height, std::size_t channels) {
  return std::unique_ptr<std::uint8_t[]>(new std::uint8_t[width * height * channels]);
}

// `pixels` of RGBA to RGB over white. `to` may be `from`.
void lay_over_white(const std::uint8_t* from, std::uint8_t* to, std::size_t pixels) {
  for (std::size_t i = 0; i < pixels; ++i, from += 4, to += 3) {
    const int alpha = from[3];
    for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>((from[c] * alpha + 255 * (255 - alpha) + 127) / 255);
  }
}

struct Reader {
  Bytes rest;
};

void read_png(png_structp png, png_bytep to, std::size_t count) {
  auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader.rest.size()) png_error(png, "the file is cut off");
  std::memcpy(to, reader.rest.data(), count);
  reader.rest = reader.rest.subspan(count);
}

// Converts every kind of PNG to 8-bit RGB or RGBA.
void set_png_transforms(png_structp png, png_infop info) {
  png_set_expand(png);  // palettes, few bits, and a transparent colour
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

// CMYK to RGB. Files with Adobe's marker hold the light that passes the inks, others the inks (ITU-T T.872).
void keep_row_of_cmyk(const std::uint8_t* from, std::uint8_t* to, std::size_t pixels, bool adobe) {
  const int flip = adobe ? 0 : 255;
  for (std::size_t i = 0; i < pixels; ++i, from += 4, to += 3)
    for (int c = 0; c < 3; ++c) to[c] = static_cast<std::uint8_t>(((from[c] ^ flip) * (from[3] ^ flip) + 127) / 255);
}

// Some cameras put fill bytes between the data of a scan and the next marker: either few, or all equal and not part of
// the scan. Any other bytes are data that an error made the decoder skip.
bool is_padding(Bytes before_marker, std::size_t unread) {
  constexpr std::size_t kFew = 4, kTail = 16;
  if (unread <= kFew || before_marker.empty()) return true;
  std::size_t alike = 0;
  while (alike < before_marker.size() && before_marker[before_marker.size() - 1 - alike] == before_marker.back())
    ++alike;
  return alike >= unread && alike < unread + kTail;
}

// Gives up on damage that libjpeg only warns about: it would replace missing blocks with some colour.
void stop_at_damage(j_common_ptr common, int level) {
  const jpeg_error_mgr& errors = *common->err;
  if (level >= 0) return;  // a note, not a warning
  switch (errors.msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
      return;  // only about what a file says of itself
    case JWRN_EXTRANEOUS_DATA: {
      const jpeg_source_mgr& source = *reinterpret_cast<j_decompress_ptr>(common)->src;
      const auto& file = *static_cast<const Bytes*>(common->client_data);
      const auto unread = static_cast<std::size_t>(errors.msg_parm.i[0]);
      if (is_padding(file.first(file.size() - source.bytes_in_buffer), unread)) return;
      break;
    }
    default:
      break;
  }
  char why[JMSG_LENGTH_MAX];
  errors.format_message(common, why);
  give_up(why);
}

// The later scans of a progressive picture sharpen it; without them it is blurred.
void require_all_scans(const jpeg_decompress_struct& jpeg) {
  if (!jpeg.coef_bits) return;
  for (int component = 0; component < jpeg.num_components; ++component) {
    const int* left = jpeg.coef_bits[component];  // missing bits of each coefficient; -1: all are missing
    if (left[0] < 0 || std::any_of(left, left + DCTSIZE2, [](int bits) { return bits > 0; }))
      give_up("scans of the progressive picture are missing");
  }
}

}  // namespace

Picture decode_png(Bytes encoded, std::uint32_t width, std::uint32_t height) {
  png_structp png = png_create_read_struct(
      PNG_LIBPNG_VER_STRING, nullptr, [](png_structp, png_const_charp why) { give_up(why); },
      [](png_structp, png_const_charp) {});
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) give_up("there is no memory for it");
  Reader reader{encoded};
  png_set_read_fn(png, &reader, read_png);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);  // a transparent colour matters as much as a palette
  png_set_user_limits(png, width, height);
  png_read_info(png, info);
  if (png_get_image_width(png, info) != width || png_get_image_height(png, info) != height)
    give_up("its size is not that of its header");
  set_png_transforms(png, info);
  const std::size_t channels = png_get_channels(png, info);
  if ((channels != 3 && channels != 4) || png_get_rowbytes(png, info) != std::size_t(width) * channels)
    give_up("its rows have another size than its header says");
  const bool passes = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
  Picture picture{width, height, rows_of(width, height, passes ? channels : 3)};
  if (passes) {
    std::vector<png_bytep> rows(height);
    for (std::size_t y = 0; y < height; ++y) rows[y] = picture.rgb.get() + y * width * channels;
    png_read_image(png, rows.data());
    if (channels == 4) lay_over_white(picture.rgb.get(), picture.rgb.get(), std::size_t(width) * height);
  } else {
    std::vector<std::uint8_t> row(channels == 4 ? std::size_t(width) * 4 : 0);
    for (std::size_t y = 0; y < height; ++y) {
      std::uint8_t* to = picture.rgb.get() + y * width * 3;
      png_read_row(png, channels == 4 ? row.data() : to, nullptr);
      if (channels == 4) lay_over_white(row.data(), to, width);
    }
  }
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return picture;
}

Picture decode_jpeg(Bytes encoded, std::uint32_t width, std::uint32_t height) {
  jpeg_error_mgr errors;
  jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr common) {
    char why[JMSG_LENGTH_MAX];
    common->err->format_message(common, why);
    give_up(why);
  };
  errors.emit_message = stop_at_damage;
  jpeg_decompress_struct jpeg;
  jpeg.err = &errors;
  jpeg_create_decompress(&jpeg);
  jpeg.client_data = &encoded;
  jpeg_mem_src(&jpeg, encoded.data(), encoded.size());
  jpeg_read_header(&jpeg, TRUE);
  if (jpeg.image_width != width || jpeg.image_height != height) give_up("its size is not that of its header");
  const bool cmyk = jpeg.num_components == 4;
  jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  require_all_scans(jpeg);
  Picture picture{width, height, rows_of(width, height, 3)};
  std::vector<std::uint8_t> row(cmyk ? std::size_t(width) * 4 : 0);
  while (jpeg.output_scanline < height) {
    std::uint8_t* to = picture.rgb.get() + std::size_t(jpeg.output_scanline) * width * 3;
    JSAMPROW target = cmyk ? row.data() : to;
    if (jpeg_read_scanlines(&jpeg, &target, 1) != 1) give_up("its data ends early");
    if (cmyk) keep_row_of_cmyk(row.data(), to, width, jpeg.saw_Adobe_marker);
  }
  jpeg_finish_decompress(&jpeg);  // reads to the end mark
  jpeg_destroy_decompress(&jpeg);
  return picture;
}

Picture decode_webp(Bytes encoded, std::uint32_t width, std::uint32_t height) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) give_up("libwebp has another version than agon was built for");
  if (WebPGetFeatures(encoded.data(), encoded.size(), &config.input) != VP8_STATUS_OK) give_up("its header is damaged");
  if (config.input.width != int(width) || config.input.height != int(height) || config.input.has_animation)
    give_up("its size is not that of its header");
  const std::size_t channels = config.input.has_alpha ? 4 : 3;
  Picture picture{width, height, rows_of(width, height, channels)};
  config.output.colorspace = config.input.has_alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = picture.rgb.get();
  config.output.u.RGBA.stride = static_cast<int>(width * channels);
  config.output.u.RGBA.size = std::size_t(width) * height * channels;
  switch (WebPDecode(encoded.data(), encoded.size(), &config)) {
    case VP8_STATUS_OK:
      break;
    case VP8_STATUS_OUT_OF_MEMORY:
      give_up("it needs more memory than its size allows");
    case VP8_STATUS_NOT_ENOUGH_DATA:
      give_up("its data ends early");
    default:
      give_up("its data is damaged");
  }
  if (channels == 4) lay_over_white(picture.rgb.get(), picture.rgb.get(), std::size_t(width) * height);
  return picture;
}

}  // namespace agon::decoder
