// core/decoder/codecs.h - decodes PNG, JPEG and WebP to 8-bit RGB, in a separate process, so that a bad picture can
// crash only that process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace agon::decoder {

// Reports the failure to the process that asked for the picture and exits: no state of a damaged picture survives.
[[noreturn]] void give_up(const char* why);

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::unique_ptr<std::uint8_t[]> rgb;  // rows top to bottom, no padding; alpha laid over white
};

// width, height: as in the file's header. Each function gives up on a picture that it cannot decode.
Picture decode_png(std::span<const std::uint8_t> encoded, std::uint32_t width, std::uint32_t height);
Picture decode_jpeg(std::span<const std::uint8_t> encoded, std::uint32_t width, std::uint32_t height);
Picture decode_webp(std::span<const std::uint8_t> encoded, std::uint32_t width, std::uint32_t height);

}  // namespace agon::decoder
