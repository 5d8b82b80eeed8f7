// kernels/linear/bfloat/product/tiles.h - the inner product of bfloat_linear by tiles, as AMX multiplies them: a tile
// of 16 rows of x, 16 pairs of inputs each, times a tile of 16 pairs of 16 outputs, which is how the panels lie. The
// unit that keeps and multiplies tiles is the processor's (kernels/linear/bfloat/product/amx.cc), or in tests one of
// plain loops.
//
// TDPBF16PS, as Intel describes it, sums a tile's 16 first inputs in one chain of multiply-adds from 0 on and the 16
// second ones in another, adds the two and then adds that to the total. VDPBF16PS adds every product to the total.
// Their results differ: for x = {1, 2^-24, 2^-24, 2^-24} and weights of 1, tiles give 1 + 2^-23 and VDPBF16PS gives 1
// (a test compares them). So a processor with tiles uses them for every number of rows, and a request's tokens still
// depend on nothing else: no element of a tile depends on the tile's other rows, how many there are, or its place
// among them. That holds whatever the order of the sum within a tile.
//
// Few rows lose nothing: a tile product takes at most 16 cycles, which is 64 bytes of weights a cycle, as much as the
// second-level cache gives. From 32 rows on, 2 x 2 tiles of totals use every tile that is loaded twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "kernels/linear/bfloat/product/product.h"

namespace agon::kernels {

inline constexpr int kTileRows = 16, kTilePairs = 16, kTileBytes = 64;  // bytes of a row
// Numbers of tiles: 0 .. 3 are totals, 4 and 5 hold x, 6 and 7 weights. A Unit has
//   void shape(int rows)   of the tiles 0 .. 5; those of weights have 16
//   clear<Tile>(), load<Tile>(from, bytes from row to row), store<Tile>(to, bytes from row to row)
//   multiply<Total, X, Weights>()   total += x times weights
//   void release()   after the last use
inline constexpr int kTotalTiles = 4, kInputTile = 4, kWeightTile = 6;

// y of a tile of totals [16, 16], for `rows` rows from `row` on and the outputs from `first` on.
void finish_tile(const BfloatProduct& at, std::int64_t row, int rows, std::int64_t first, const float* totals);

namespace tile_detail {

// step.operator()<i>() for i = 0 .. Count - 1.
template <int Count, typename Step>
inline void for_each(const Step& step) {
  const auto all = [&]<int... I>(std::integer_sequence<int, I...>) { (step.template operator()<I>(), ...); };
  all(std::make_integer_sequence<int, Count>());
}

// What 16 pairs of inputs are read from, in values of bfloat16.
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

// The pairs behind the last 16, filled up with zeros, which change no sum.
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

// Rows [begin, end).
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
