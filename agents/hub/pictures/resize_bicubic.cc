// Resamples 8-bit pictures with fixed-point taps: first horizontally, then vertically, each pass rounded to bytes. PIL
// up to 12.1 and torchvision do the same. (PIL 13 does the vertical pass first if that is cheaper, and then some bytes
// differ by one level.) A horizontal pass is a vertical pass on the transposed picture, so that one loop does both.
#include "agents/hub/pictures/resize_bicubic.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/multiversion.h"

namespace agon::agents {
namespace {

// Weights of one output row or column, for the input rows or columns from `first` on.
template <typename Weight>
struct Taps {
  int first = 0;
  std::vector<Weight> weights;
};
// The taps of all output rows or columns, in fixed point with `bits` fractional bits.
struct ResampledAxis {
  int bits = 0;
  std::vector<Taps<std::int32_t>> taps;
};

double bicubic(double x) {  // Keys' kernel with a = -0.5
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

Taps<double> exact_taps(int input_size, double scale, int index) {
  const double stretch = std::max(scale, 1.0);  // shrinking widens the kernel: antialiasing
  const double support = 2 * stretch, center = (index + 0.5) * scale;
  Taps<double> taps{std::max(static_cast<int>(center - support + 0.5), 0), {}};
  const int end = std::min(static_cast<int>(center + support + 0.5), input_size);
  for (int i = taps.first; i < end; ++i) taps.weights.push_back(bicubic((i - center + 0.5) * (1.0 / stretch)));
  double total = 0;
  for (double weight : taps.weights) total += weight;
  if (total != 0)
    for (double& weight : taps.weights) weight /= total;
  return taps;
}

// PIL has a constant number of fractional bits. torchvision's weights have 16 bits, with as many fractional bits as the
// largest weight allows.
int fixed_point_bits(const std::vector<Taps<double>>& taps, Resampler resampler) {
  constexpr int kMost = 22;
  if (resampler == Resampler::pil) return kMost;
  double largest = 0;
  for (const Taps<double>& one : taps)
    for (double weight : one.weights) largest = std::max(largest, weight);
  int bits = 0;
  while (bits < kMost && static_cast<int>(0.5 + largest * (2 << bits)) < 1 << 15) ++bits;
  return bits;
}

ResampledAxis make_taps(int input_size, int output_size, Resampler resampler) {
  std::vector<Taps<double>> exact;
  const double scale = static_cast<double>(input_size) / output_size;
  for (int i = 0; i < output_size; ++i) exact.push_back(exact_taps(input_size, scale, i));
  ResampledAxis axis{fixed_point_bits(exact, resampler), {}};
  for (const Taps<double>& one : exact) {
    Taps<std::int32_t>& taps = axis.taps.emplace_back(Taps<std::int32_t>{one.first, {}});
    for (double weight : one.weights) {
      const double share = weight * (1 << axis.bits);
      taps.weights.push_back(static_cast<std::int32_t>(share < 0 ? share - 0.5 : share + 0.5));
    }
  }
  return axis;
}

// One output row: the weighted sum of `taps` rows, which begin `row_size` apart.
AGON_MULTIVERSION void blend_rows(const std::uint8_t* rows, std::size_t row_size, const std::int32_t* weights,
                                  std::size_t taps, int bits, std::uint8_t* out) {
  constexpr std::size_t kStrip = 96;  // bytes whose sums stay in registers
  for (std::size_t begin = 0; begin < row_size; begin += kStrip) {
    const std::size_t count = std::min(kStrip, row_size - begin);
    std::int32_t sums[kStrip];
    for (std::int32_t& sum : sums) sum = 1 << (bits - 1);
    const std::uint8_t* row = rows + begin;
    for (std::size_t tap = 0; tap < taps; ++tap, row += row_size)
      if (count == kStrip)
        for (std::size_t i = 0; i < kStrip; ++i) sums[i] += weights[tap] * row[i];
      else
        for (std::size_t i = 0; i < count; ++i) sums[i] += weights[tap] * row[i];
    for (std::size_t i = 0; i < count; ++i)
      out[begin + i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> bits, 0, 255));
  }
}

using PixelBytes = std::vector<std::uint8_t>;

PixelBytes resize_height(const std::uint8_t* rgb, Size size, int new_height, Resampler resampler,
                         const kernels::ParallelFor& parallel) {
  const std::size_t row_size = static_cast<std::size_t>(size.width) * 3;
  PixelBytes result(row_size * static_cast<std::size_t>(new_height));
  const ResampledAxis axis = make_taps(size.height, new_height, resampler);
  kernels::run_parallel(parallel, new_height, [&](std::int64_t begin, std::int64_t end) {
    for (auto y = static_cast<std::size_t>(begin); y < static_cast<std::size_t>(end); ++y) {
      const Taps<std::int32_t>& taps = axis.taps[y];
      blend_rows(rgb + static_cast<std::size_t>(taps.first) * row_size, row_size, taps.weights.data(),
                 taps.weights.size(), axis.bits, result.data() + y * row_size);
    }
  });
  return result;
}

// Copies pixels of three bytes. All except the last are copied as four bytes, which is faster; the next pixel
// overwrites the fourth.
void copy_pixels(const std::uint8_t* from, std::ptrdiff_t step, int count, std::uint8_t* to) {
  for (int i = 0; i + 1 < count; ++i, from += step, to += 3) std::memcpy(to, from, 4);
  std::memcpy(to, from, 3);
}

// rgb [height, width] -> out [width, height].
void transpose(const std::uint8_t* rgb, int width, int height, std::uint8_t* out) {
  constexpr int kBlock = 16;  // pixels; a block's rows stay in the cache
  for (int top = 0; top < height; top += kBlock)
    for (int left = 0; left < width; left += kBlock)
      for (int x = left; x < std::min(left + kBlock, width); ++x)
        copy_pixels(rgb + (std::ptrdiff_t{top} * width + x) * 3, std::ptrdiff_t{width} * 3,
                    std::min(kBlock, height - top), out + (static_cast<std::ptrdiff_t>(x) * height + top) * 3);
}

// Resizes the width of bands of rows, which stay in the cache while they are transposed, blended and transposed back.
PixelBytes resize_width(const std::uint8_t* rgb, Size size, int new_width, Resampler resampler,
                        const kernels::ParallelFor& parallel) {
  constexpr int kBand = 64;  // rows
  const auto row_size = static_cast<std::size_t>(size.width) * 3,
             new_row_size = static_cast<std::size_t>(new_width) * 3;
  PixelBytes result(new_row_size * static_cast<std::size_t>(size.height));
  const ResampledAxis axis = make_taps(size.width, new_width, resampler);
  kernels::run_parallel(parallel, (size.height + kBand - 1) / kBand, [&](std::int64_t begin, std::int64_t end) {
    PixelBytes columns(row_size * kBand), blended(new_row_size * kBand);
    for (std::int64_t band = begin; band < end; ++band) {
      const auto top = static_cast<std::size_t>(band) * kBand;
      const int rows = std::min(kBand, size.height - static_cast<int>(top));
      const auto column_size = static_cast<std::size_t>(rows) * 3;
      transpose(rgb + top * row_size, size.width, rows, columns.data());
      for (std::size_t x = 0; x < axis.taps.size(); ++x) {
        const Taps<std::int32_t>& taps = axis.taps[x];
        blend_rows(columns.data() + static_cast<std::size_t>(taps.first) * column_size, column_size,
                   taps.weights.data(), taps.weights.size(), axis.bits, blended.data() + x * column_size);
      }
      transpose(blended.data(), rows, new_width, result.data() + top * new_row_size);
    }
  });
  return result;
}

}  // namespace

Image resize_bicubic(const Image& image, Size size, Resampler resampler, const kernels::ParallelFor& parallel) {
  const Size given{image.width(), image.height()};
  if (size == given) return image;
  const std::uint8_t* rgb = image.rgb().data();
  PixelBytes wide;
  if (size.width != given.width) rgb = (wide = resize_width(rgb, given, size.width, resampler, parallel)).data();
  if (size.height == given.height) return Image(size.width, size.height, std::move(wide));
  return Image(size.width, size.height,
               resize_height(rgb, {size.width, given.height}, size.height, resampler, parallel));
}

}  // namespace agon::agents
