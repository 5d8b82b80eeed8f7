// core/pictures/formats/bytes.h - reads numbers and marks from a file that is held in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace agon::image_formats {

using Bytes = std::span<const std::uint8_t>;

bool starts_with(Bytes bytes, std::size_t at, std::string_view magic);

// REQUIRES: at + count <= bytes.size(), count <= 8.
std::uint64_t big_endian(Bytes bytes, std::size_t at, std::size_t count);
std::uint64_t little_endian(Bytes bytes, std::size_t at, std::size_t count);

std::string_view as_text(Bytes bytes);

}  // namespace agon::image_formats
