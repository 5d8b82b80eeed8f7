// kernels/linear/bfloat/product/tiles.h - the inner loop of bfloat_linear on AMX tiles: a tile of 16 rows of x, 16
// pairs of inputs each, times a tile of 16 pairs for 16 outputs, which is the layout of the panels. The unit that holds
// and multiplies tiles is the processor (kernels/linear/bfloat/product/amx.cc); tests use an emulation in plain loops.
//
// By Intel's description, TDPBF16PS sums the first inputs of a tile's 16 pairs in one chain of multiply-adds that
// starts at 0, and the second inputs in another. It adds the two sums and then adds the result to the total. VDPBF16PS
// adds every product to the total. Their results differ: for x = {1, 2^-24, 2^-24, 2^-24} and weights of 1, tiles give
// 1 + 2^-23 and VDPBF16PS gives 1 (a test compares them). So a processor with tiles uses them for every number of rows.
// An element of a tile does not depend on the tile's other rows, on their number, or on its place among them, whatever
// the order of the sum within a tile. Therefore a request's tokens do not depend on what else is in the batch.
//
// Tiles are not slower for few rows: a tile product takes at most 16 cycles. That is 64 bytes of weights per cycle,
// which is as much as the second-level cache delivers. From 32 rows on, 2 x 2 tiles of totals use every loaded tile
// twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/linear/bfloat/product/product.h"

namespace agon::kernels {

inline constexpr int kTileRows = 16, kTilePairs = 16, kTileBytes = 64;  // bytes of a row
// Tile numbers: 0 .. 3 are totals, 4 and 5 hold x, 6 and 7 weights. A Unit has
//   void shape(int rows)   sets the rows of the tiles 0 .. 5; tiles of weights have 16
//   clear<Tile>(), load<Tile>(from, bytes from row to row), store<Tile>(to, bytes from row to row)
//   multiply<Total, X, Weights>()   total += x times weights
//   void release()   after the last use
inline constexpr int kTotalTiles = 4, kInputTile = 4, kWeightTile = 6;

// Writes a tile of totals [16, 16] to y: `rows` rows starting at `row`, and the outputs starting at `first`.
void finish_tile(const BfloatProduct& at, std::int64_t row, int rows, std::int64_t first, const float* totals);

namespace tile_detail {

// step.operator()<i>() for i = 0 .. Count - 1.
template <int Count, typename Step>
inline void for_each(const Step& step) {
  const auto all = [&]<int... I>(std::integer_sequence<int, I...>) { (step.template operator()<I>(), ...); };
  all(std::make_integer_sequence<int, Count>());
}

// Where the next 16 pairs of inputs are read. Strides count bfloat16 values.
struct TileSource {
  const std::uint16_t* x;
  std::int64_t x_stride;  // from row to row
  const std::uint16_t* weights;
  std::int64_t panel_stride;
};

template <int RowTiles, int Panels, typename Unit>
inline void multiply(Unit& unit, const TileSource& from) {
  for_each<RowTiles>(
      [&]<int R>() { unit.template load<kInputTile + R>(from.x + R * kTileRows * from.x_stride, 2 * from.x_stride); });
  for_each<Panels>([&]<int P>() {
    unit.template load<kWeightTile + P % 2>(from.weights + P * from.panel_stride, kTileBytes);
    for_each<RowTiles>([&]<int R>() { unit.template multiply<R * Panels + P, kInputTile + R, kWeightTile + P % 2>(); });
  });
}

// Multiplies the last pairs, fewer than 16, padded with zeros, which change no sum.
template <int RowTiles, int Panels, typename Unit>
inline void multiply_rest(Unit& unit, const TileSource& from, int rows, std::int64_t pairs) {
  constexpr std::int64_t kRow = 2 * kTilePairs, kPanel = kTilePairs * 2 * kBfloatPanel;
  std::uint16_t x[RowTiles * kTileRows * kRow] = {}, weights[Panels * kPanel] = {};
  for (int r = 0; r < (RowTiles - 1) * kTileRows + rows; ++r)
    std::copy_n(from.x + r * from.x_stride, 2 * pairs, x + r * kRow);
  for (int p = 0; p < Panels; ++p)
    std::copy_n(from.weights + p * from.panel_stride, pairs * 2 * kBfloatPanel, weights + p * kPanel);
  multiply<RowTiles, Panels>(unit, {x, kRow, weights, kPanel});
}

// RowTiles tiles of `rows` rows by Panels panels.
template <int RowTiles, int Panels, typename Unit>
inline void block(Unit& unit, const BfloatProduct& at, std::int64_t row, int rows, std::int64_t panel) {
  static_assert(RowTiles * Panels <= kTotalTiles);
  const std::int64_t stride = at.pairs * 2, size = at.pairs * 2 * kBfloatPanel;
  TileSource source{at.x + row * stride, stride, at.panels + panel * size, size};
  for_each<RowTiles * Panels>([&]<int T>() { unit.template clear<T>(); });
  std::int64_t left = at.pairs;
  for (; left >= kTilePairs; left -= kTilePairs) {
    multiply<RowTiles, Panels>(unit, source);
    source.x += 2 * kTilePairs;
    source.weights += kTilePairs * 2 * kBfloatPanel;
  }
  if (left > 0) multiply_rest<RowTiles, Panels>(unit, source, rows, left);
  for_each<RowTiles * Panels>([&]<int T>() {
    alignas(64) float totals[kTileRows * kBfloatPanel];
    unit.template store<T>(totals, kTileBytes);
    finish_tile(at, row + T / Panels * kTileRows, rows, (panel + T % Panels) * kBfloatPanel, totals);
  });
}

template <int RowTiles, int Panels, typename Unit>
inline void all_panels(Unit& unit, const BfloatProduct& at, std::int64_t row, int rows) {
  std::int64_t panel = 0;
  for (; panel + Panels <= at.panel_count; panel += Panels) block<RowTiles, Panels>(unit, at, row, rows, panel);
  for (; panel < at.panel_count; ++panel) block<RowTiles, 1>(unit, at, row, rows, panel);
}

}  // namespace tile_detail

// Computes rows [begin, end).
template <typename Unit>
void multiply_tiles(Unit& unit, const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end;) {
    const int rows = static_cast<int>(std::min<std::int64_t>(kTileRows, end - row));
    unit.shape(rows);
    if (end - row >= 2 * kTileRows) {
      tile_detail::all_panels<2, 2>(unit, at, row, rows);
      row += 2 * kTileRows;
    } else {
      tile_detail::all_panels<1, 4>(unit, at, row, rows);
      row += rows;
    }
  }
  unit.release();
}

}  // namespace agon::kernels
