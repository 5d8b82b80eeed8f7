// Resamples 8-bit pictures as PIL up to 12.1 does (13 does the vertical pass first if that costs less, and differs by a
// level in places): taps in fixed point with 22 bits, first horizontally, then vertically, each pass rounded to bytes.
// A horizontal pass is a vertical pass on the transposed picture, so that one loop over whole rows does both.
#include "agents/hub/resize_bicubic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/multiversion.h"

namespace agon::agents {
namespace {

constexpr int kBits = 22;  // of a weight

struct Pixels {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

// One output row or column: the weights of the input's `first` and following ones.
struct Taps {
  int first = 0;
  std::vector<std::int32_t> weights;
};

double bicubic(double x) {  // Keys' kernel with a = -0.5
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

Taps make_taps(int input_size, double scale, int index) {
  const double stretch = std::max(scale, 1.0);  // shrinking widens the kernel: antialiasing
  const double support = 2 * stretch, center = (index + 0.5) * scale;
  Taps taps{std::max(static_cast<int>(center - support + 0.5), 0), {}};
  const int end = std::min(static_cast<int>(center + support + 0.5), input_size);
  std::vector<double> weights;
  for (int i = taps.first; i < end; ++i) weights.push_back(bicubic((i - center + 0.5) * (1.0 / stretch)));
  double total = 0;
  for (double weight : weights) total += weight;
  for (double weight : weights) {
    const double share = (total != 0 ? weight / total : weight) * (1 << kBits);
    taps.weights.push_back(static_cast<std::int32_t>(share < 0 ? share - 0.5 : share + 0.5));
  }
  return taps;
}

AGON_MULTIVERSION void add_row(const std::uint8_t* row, std::int32_t weight, std::size_t count, std::int32_t* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += weight * row[i];
}

AGON_MULTIVERSION void round_row(const std::int32_t* sums, std::size_t count, std::uint8_t* row) {
  for (std::size_t i = 0; i < count; ++i) row[i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> kBits, 0, 255));
}

Pixels resize_height(const std::uint8_t* rgb, int width, int height, int new_height) {
  const std::size_t row_size = static_cast<std::size_t>(width) * 3;
  Pixels result{width, new_height, std::vector<std::uint8_t>(row_size * static_cast<std::size_t>(new_height))};
  const double scale = static_cast<double>(height) / new_height;
  std::vector<std::int32_t> sums(row_size);
  for (int y = 0; y < new_height; ++y) {
    const Taps taps = make_taps(height, scale, y);
    std::fill(sums.begin(), sums.end(), 1 << (kBits - 1));
    const std::uint8_t* row = rgb + static_cast<std::size_t>(taps.first) * row_size;
    for (std::int32_t weight : taps.weights) {
      add_row(row, weight, row_size, sums.data());
      row += row_size;
    }
    round_row(sums.data(), row_size, result.rgb.data() + static_cast<std::size_t>(y) * row_size);
  }
  return result;
}

Pixels transpose(const std::uint8_t* rgb, int width, int height) {
  Pixels result{height, width,
                std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3)};
  constexpr int kBlock = 16;  // pixels: a block's rows stay in the cache
  for (int top = 0; top < height; top += kBlock)
    for (int left = 0; left < width; left += kBlock)
      for (int x = left; x < std::min(left + kBlock, width); ++x)
        for (int y = top; y < std::min(top + kBlock, height); ++y) {
          const std::uint8_t* from = rgb + (static_cast<std::ptrdiff_t>(y) * width + x) * 3;
          std::uint8_t* to = result.rgb.data() + (static_cast<std::ptrdiff_t>(x) * height + y) * 3;
          to[0] = from[0], to[1] = from[1], to[2] = from[2];
        }
  return result;
}

}  // namespace

Image resize_bicubic(const Image& image, Size size) {
  if (size == Size{image.width(), image.height()}) return image;
  Pixels pixels{image.width(), image.height(), {image.rgb().begin(), image.rgb().end()}};
  if (size.width != pixels.width) {
    pixels = transpose(pixels.rgb.data(), pixels.width, pixels.height);
    pixels = resize_height(pixels.rgb.data(), pixels.width, pixels.height, size.width);
    pixels = transpose(pixels.rgb.data(), pixels.width, pixels.height);
  }
  if (size.height != pixels.height) pixels = resize_height(pixels.rgb.data(), pixels.width, pixels.height, size.height);
  return Image(size.width, size.height, std::move(pixels.rgb));
}

}  // namespace agon::agents
