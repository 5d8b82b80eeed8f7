// tests/support/emulated_tiles.h - an emulated matrix unit for kernels/linear/bfloat/product/tiles.h that follows the
// specification of AMX. TDPBF16PS keeps its order of sums, and treats numbers too small for a normal float as 0.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/linear/bfloat/product/tiles.h"

namespace agon::test {

class EmulatedTiles {
 public:
  void shape(int rows) {
    *this = {};
    rows_ = rows;
  }
  template <int Tile>
  void clear() {
    std::memset(tiles_[Tile], 0, sizeof tiles_[Tile]);
  }
  template <int Tile>
  void load(const void* from, std::int64_t row_stride) {
    clear<Tile>();
    for (int r = 0; r < rows_of(Tile); ++r)
      std::memcpy(tiles_[Tile][r], static_cast<const char*>(from) + r * row_stride, sizeof tiles_[Tile][r]);
  }
  template <int Tile>
  void store(void* to, std::int64_t row_stride) const {
    for (int r = 0; r < rows_of(Tile); ++r)
      std::memcpy(static_cast<char*>(to) + r * row_stride, tiles_[Tile][r], sizeof tiles_[Tile][r]);
  }
  template <int Total, int X, int Weights>
  void multiply() {
    for (int m = 0; m < rows_; ++m)
      for (int n = 0; n < kernels::kBfloatPanel; ++n) {
        float sums[2] = {};  // over the first and the second input of each pair
        for (int k = 0; k < kernels::kTilePairs; ++k)
          for (int part = 0; part < 2; ++part)
            sums[part] =
                flushed(std::fma(value(tiles_[X][m][k], part), value(tiles_[Weights][k][n], part), sums[part]));
        const float total = flushed(std::bit_cast<float>(tiles_[Total][m][n]));
        tiles_[Total][m][n] = std::bit_cast<std::uint32_t>(flushed(total + flushed(sums[0] + sums[1])));
      }
  }
  void release() { *this = {}; }

 private:
  static float flushed(float x) { return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x; }
  static float value(std::uint32_t pair, int part) {
    return flushed(std::bit_cast<float>(part == 0 ? pair << 16 : pair & 0xffff0000));
  }
  int rows_of(int tile) const { return tile < kernels::kWeightTile ? rows_ : kernels::kTilePairs; }

  int rows_ = 0;
  std::uint32_t tiles_[8][kernels::kTileRows][kernels::kTileBytes / 4] = {};
};

}  // namespace agon::test
