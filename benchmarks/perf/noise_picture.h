// benchmarks/perf/noise_picture.h - draws a random picture, which no cache holds yet.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/pictures/image.h"
#include "core/rng.h"

namespace agon {

// 112 x 112.
inline Image noise_picture(Rng& rng) {
  std::vector<std::uint8_t> pixels(112 * 112 * 3);
  for (std::uint8_t& value : pixels) value = static_cast<std::uint8_t>(rng.between(0, 255));
  return Image(112, 112, std::move(pixels));
}

}  // namespace agon
