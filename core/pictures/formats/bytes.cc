#include "core/pictures/formats/bytes.h"

#include <cstring>

namespace agon::image_formats {

bool starts_with(Bytes bytes, std::size_t at, std::string_view magic) {
  return bytes.size() >= at && bytes.size() - at >= magic.size() &&
         std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

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

std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace agon::image_formats
