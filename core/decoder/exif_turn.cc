#include "core/decoder/exif_turn.h"

#include <cstring>

namespace agon::decoder {

void copy_turned_rows(const Picture& picture, std::uint32_t orientation, std::size_t top,
                      std::span<std::uint8_t> rows) {
  const bool swaps = swaps_sides(orientation);
  const bool mirrored = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool upside_down = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const std::size_t width = swaps ? picture.height : picture.width, count = rows.size() / (width * 3);
  for (std::size_t x = 0; x < width; ++x)  // columns first: source neighbours if the sides are swapped
    for (std::size_t y = top; y < top + count; ++y) {
      const std::size_t across = swaps ? y : x, down = swaps ? x : y;
      const std::size_t column = mirrored ? picture.width - 1 - across : across;
      const std::size_t row = upside_down ? picture.height - 1 - down : down;
      std::memcpy(&rows[((y - top) * width + x) * 3], &picture.rgb[(row * picture.width + column) * 3], 3);
    }
}

}  // namespace agon::decoder
