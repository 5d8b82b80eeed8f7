#include "kernels/linear/bfloat/product/product.h"

#if defined(__x86_64__)

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/linear/bfloat/product/tiles.h"

namespace agon::kernels {
namespace {

// The operand of LDTILECFG.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, first_row = 0, unused[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// The tiles of the processor, which belong to the current thread. Inline assembly, because GCC's intrinsics accept only
// literals as tile numbers.
class ProcessorTiles {
 public:
  void shape(int rows) {
    TileShapes shapes;
    for (int tile = 0; tile < 8; ++tile) {
      shapes.row_bytes[tile] = kTileBytes;
      shapes.rows[tile] = static_cast<std::uint8_t>(tile < kWeightTile ? rows : kTilePairs);
    }
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  template <int Tile>
  void clear() {
    asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
  }
  template <int Tile>
  void load(const void* from, std::int64_t row_stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_stride), "i"(Tile) : "memory");
  }
  template <int Tile>
  void store(void* to, std::int64_t row_stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_stride), "i"(Tile) : "memory");
  }
  template <int Total, int X, int Weights>
  void multiply() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Total), "i"(X), "i"(Weights));
  }
  // Afterwards the system no longer saves the tiles when it switches threads.
  void release() { asm volatile("tilerelease"); }
};

void bfloat_product(const BfloatProduct& at, std::int64_t begin, std::int64_t end) {
  ProcessorTiles tiles;
  multiply_tiles(tiles, at, begin, end);
}

bool has_tiles() {
  constexpr unsigned kSavesState = 1u << 27, kBfloatTiles = 1u << 22, kTiles = 1u << 24;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kSavesState)) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d & kBfloatTiles && d & kTiles;
}

// Asks the system for permission to use tiles, once for all threads.
bool may_use_tiles() {
  constexpr int kTileData = 18;
  constexpr unsigned kTileState = 3u << 17;  // shapes and data
  unsigned saved, upper;
  asm volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  return (saved & kTileState) == kTileState && syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, kTileData) == 0;
}

}  // namespace

BfloatProductFunction bfloat_product_amx() {
  static const bool kRuns = has_tiles() && may_use_tiles();
  return kRuns ? bfloat_product : nullptr;
}

}  // namespace agon::kernels

#else

namespace agon::kernels {

BfloatProductFunction bfloat_product_amx() { return nullptr; }

}  // namespace agon::kernels

#endif
