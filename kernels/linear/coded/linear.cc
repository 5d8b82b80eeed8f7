#include "kernels/linear/coded/linear.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/half.h"
#include "kernels/linear/coded/product/product.h"
#include "kernels/multiversion.h"
#include "kernels/vector.h"

namespace agon::kernels {
namespace {

constexpr std::int64_t kRowsPerTile = 64;

std::int64_t blocks_of(int inputs) { return (inputs + kBlock - 1) / kBlock; }
std::int64_t panels_of(int outputs) { return (outputs + kCodedPanel - 1) / kCodedPanel; }
std::size_t panel_bytes(const CodedLinear& weight) {
  return CodedLayout(weight.format).bytes * static_cast<std::size_t>(blocks_of(weight.inputs));
}
std::uint8_t* bytes_at(AlignedFloats& floats) { return reinterpret_cast<std::uint8_t*>(floats.data()); }
const std::uint8_t* bytes_at(const AlignedFloats& floats) {
  return reinterpret_cast<const std::uint8_t*>(floats.data());
}

// Stores the codes of one output and one block of inputs. The block must be zero before.
void put_codes(const CodeFormat& format, const CodedLayout& layout, std::uint8_t* block, int output,
               const std::uint8_t* codes) {
  for (int vector = 0; vector < kBlock / 4; ++vector) {
    std::uint32_t four, packed = 0;
    std::memcpy(&four, codes + 4 * vector, sizeof four);
    if (format.bits == 8) {
      std::memcpy(block + vector * kVector + 4 * output, &four, sizeof four);
      continue;
    }
    std::uint8_t* const place = block + vector % 4 * kVector + 4 * output;
    std::memcpy(&packed, place, sizeof packed);
    packed |= (four & 0x0f0f0f0f) << (vector < 4 ? 0 : 4);
    std::memcpy(place, &packed, sizeof packed);
    for (int plane = 0; plane < format.bits - 4; ++plane) {
      const std::uint32_t bits = (four >> (4 + plane) & 0x01010101) * 0x01020408u >> 24 & 15;  // one bit of each byte
      std::uint8_t& both = block[layout.planes + static_cast<std::size_t>(plane * kVector + 8 * vector + output / 2)];
      both = static_cast<std::uint8_t>(both | bits << (output % 2 * 4));
    }
  }
}
unsigned code_at(const CodeFormat& format, const CodedLayout& layout, const std::uint8_t* block, int output,
                 int input) {
  const int vector = input / 4, byte = 4 * output + input % 4;
  if (format.bits == 8) return block[vector * kVector + byte];
  unsigned code = block[vector % 4 * kVector + byte] >> (vector < 4 ? 0 : 4) & 15u;
  for (int plane = 0; plane < format.bits - 4; ++plane) {
    const auto place = static_cast<std::size_t>(plane * kVector + 8 * vector + byte / 8);
    code |= (block[layout.planes + place] >> (byte % 8) & 1u) << (4 + plane);
  }
  return code;
}

// Half-precision numbers of a block, [groups, 16].
void put_half(std::uint8_t* halves, int group, int output, float value) {
  const std::uint16_t half = float_to_half(value);
  std::memcpy(halves + 2 * (group * kCodedPanel + output), &half, sizeof half);
}
float half_at(const std::uint8_t* halves, int group, int output) {
  std::uint16_t half;
  std::memcpy(&half, halves + 2 * (group * kCodedPanel + output), sizeof half);
  return half_to_float(half);
}

void put_row(const CodedLinear& weight, std::uint8_t* panel, int output, const CodedRow& row) {
  const CodedLayout layout(weight.format);
  const int groups = kBlock / weight.format.group;
  for (int first = 0; first < weight.inputs; first += kBlock) {
    std::uint8_t codes[kBlock] = {};
    std::memcpy(codes, row.codes + first, static_cast<std::size_t>(std::min(kBlock, weight.inputs - first)));
    put_codes(weight.format, layout, panel + static_cast<std::size_t>(first / kBlock) * layout.bytes, output, codes);
  }
  for (int g = 0; g * weight.format.group < weight.inputs; ++g) {
    std::uint8_t* const block = panel + static_cast<std::size_t>(g / groups) * layout.bytes;
    put_half(block + layout.scales, g % groups, output, row.scales[g]);
    if (weight.format.has_offsets) put_half(block + layout.offsets, g % groups, output, row.offsets[g]);
  }
}

// One block of inputs to encode: codes, scale and sums are the results. A NaN or infinity makes the scale NaN.
struct Coder {
  const float* x;
  int count;
  std::int8_t* codes;
  float* scale;
  std::int32_t* sums;
};
AGON_MULTIVERSION void code_block(const Coder& at) {
  float values[kBlock] = {}, sizes[kBlock];
  std::memcpy(values, at.x, sizeof(float) * static_cast<std::size_t>(at.count));
  float probe = 0;
  for (int i = 0; i < kBlock; ++i) {
    sizes[i] = values[i] < 0 ? -values[i] : values[i];
    probe += values[i] * 0.0f;
  }
  float most = 0;
  for (int i = 0; i < kBlock; ++i) most = larger(sizes[i], most);
  const float inverse = most > 0 ? 127.0f / most : 0.0f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: the nearest whole number lies in the last bits
  std::int32_t whole[kBlock];
  for (int i = 0; i < kBlock; ++i)
    whole[i] = std::bit_cast<std::int32_t>(values[i] * inverse + kRound) - std::bit_cast<std::int32_t>(kRound);
  for (int i = 0; i < kBlock; ++i) at.codes[i] = static_cast<std::int8_t>(whole[i]);
  for (int half = 0; half < 2; ++half) {
    at.sums[half] = 0;
    for (int i = 0; i < kBlock / 2; ++i) at.sums[half] += at.codes[half * kBlock / 2 + i];
  }
  *at.scale = most / 127.0f + probe;
}

// Sums that coded_linear computes before the products: see CodedProduct.
struct Starts {
  std::vector<std::int32_t> starts;
  std::vector<float> sums;
};
Starts starts_of(const CodeFormat& format, const CodedInputs& x) {
  Starts result;
  const std::size_t blocks = x.scales.size();
  if (format.group == kBlock) {
    result.starts.resize(blocks);
    for (std::size_t i = 0; i < blocks; ++i) result.starts[i] = -format.middle * (x.sums[2 * i] + x.sums[2 * i + 1]);
  } else {
    result.starts.resize(2 * blocks);
    for (std::size_t i = 0; i < 2 * blocks; ++i) result.starts[i] = -format.middle * x.sums[i];
  }
  if (!format.has_offsets) return result;
  result.sums.resize(blocks);
  for (std::size_t i = 0; i < blocks; ++i)
    result.sums[i] = x.scales[i] * static_cast<float>(x.sums[2 * i] + x.sums[2 * i + 1]);
  return result;
}

CodedProductFunction choose_product() {
  for (const CodedProductFunction best : {coded_product_avx512(), coded_product_avx2(), coded_product_neon()})
    if (best) return best;
  return coded_product_plain;
}

}  // namespace

CodedLinear pack_coded_linear(const CodeFormat& format, int outputs, int inputs, const float* bias,
                              const std::function<CodedRow(int output)>& row_of, const ParallelFor& parallel) {
  assert(format.group == 32 || (format.group == 16 && !format.has_offsets));
  CodedLinear packed;
  packed.format = format;
  packed.inputs = inputs;
  packed.outputs = outputs;
  const std::size_t bytes = panel_bytes(packed);
  packed.panels.require((static_cast<std::size_t>(panels_of(outputs)) * bytes + sizeof(float) - 1) / sizeof(float));
  std::uint8_t* const panels = bytes_at(packed.panels);
  run_parallel(parallel, panels_of(outputs), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin * kCodedPanel; n < std::min<std::int64_t>(end * kCodedPanel, outputs); ++n)
      put_row(packed, panels + static_cast<std::size_t>(n / kCodedPanel) * bytes, static_cast<int>(n % kCodedPanel),
              row_of(static_cast<int>(n)));
  });
  if (bias) packed.bias.assign(bias, bias + outputs);
  return packed;
}

void decode_row(const CodedLinear& weight, int output, float* row) {
  const CodeFormat& format = weight.format;
  const CodedLayout layout(format);
  const int lane = output % kCodedPanel;
  const std::uint8_t* const panel =
      bytes_at(weight.panels) + static_cast<std::size_t>(output / kCodedPanel) * panel_bytes(weight);
  for (int k = 0; k < weight.inputs; ++k) {
    const std::uint8_t* const block = panel + static_cast<std::size_t>(k / kBlock) * layout.bytes;
    const int group = k % kBlock / format.group;
    const int code = static_cast<int>(code_at(format, layout, block, lane, k % kBlock)) - format.middle;
    row[k] = half_at(block + layout.scales, group, lane) * static_cast<float>(code) +
             (format.has_offsets ? half_at(block + layout.offsets, group, lane) : 0.0f);
  }
}

std::size_t bytes_of(const CodedLinear& weight) { return (weight.panels.size() + weight.bias.size()) * sizeof(float); }

std::int64_t coded_bytes(const CodeFormat& format, std::int64_t outputs, std::int64_t inputs) {
  return (outputs + kCodedPanel - 1) / kCodedPanel * ((inputs + kBlock - 1) / kBlock) *
         static_cast<std::int64_t>(CodedLayout(format).bytes);
}

void code_inputs(const float* x, std::int64_t rows, std::int64_t x_stride, int inputs, CodedInputs& coded,
                 const ParallelFor& parallel) {
  const std::int64_t blocks = blocks_of(inputs);
  coded.rows = rows;
  coded.blocks = blocks;
  coded.codes.require(static_cast<std::size_t>(rows * blocks * kBlock) / sizeof(float));
  coded.scales.resize(static_cast<std::size_t>(rows * blocks));
  coded.sums.resize(static_cast<std::size_t>(rows * blocks) * 2);
  auto* const codes = reinterpret_cast<std::int8_t*>(coded.codes.data());
  run_parallel(parallel, rows, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      for (std::int64_t b = 0; b < blocks; ++b) {
        const std::int64_t at = r * blocks + b;
        code_block({x + r * x_stride + b * kBlock,
                    static_cast<int>(std::min<std::int64_t>(kBlock, inputs - b * kBlock)), codes + at * kBlock,
                    &coded.scales[static_cast<std::size_t>(at)], &coded.sums[static_cast<std::size_t>(2 * at)]});
      }
  });
}

void coded_linear(const CodedLinear& weight, const CodedInputs& x, float* y, std::int64_t y_stride, Store mode,
                  const ParallelFor& parallel) {
  static const CodedProductFunction kProduct = choose_product();
  coded_linear_by(kProduct, weight, x, y, y_stride, mode, parallel);
}

void coded_linear_by(CodedProductFunction product, const CodedLinear& weight, const CodedInputs& x, float* y,
                     std::int64_t y_stride, Store mode, const ParallelFor& parallel) {
  assert(x.blocks == blocks_of(weight.inputs) && y_stride >= weight.outputs);
  const Starts starts = starts_of(weight.format, x);
  const std::int64_t panels = panels_of(weight.outputs), tiles = (x.rows + kRowsPerTile - 1) / kRowsPerTile;
  const std::size_t bytes = panel_bytes(weight);
  run_parallel(parallel, tiles * panels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t panel = t % panels, row = t / panels * kRowsPerTile, column = panel * kCodedPanel;
      const CodedProduct at{.format = weight.format,
                            .panel = bytes_at(weight.panels) + static_cast<std::size_t>(panel) * bytes,
                            .blocks = x.blocks,
                            .codes = reinterpret_cast<const std::int8_t*>(x.codes.data()),
                            .scales = x.scales.data(),
                            .starts = starts.starts.data(),
                            .sums = starts.sums.data(),
                            .bias = weight.bias.empty() ? nullptr : weight.bias.data() + column,
                            .y = y + column,
                            .y_stride = y_stride,
                            .columns = static_cast<int>(std::min<std::int64_t>(kCodedPanel, weight.outputs - column)),
                            .add = mode == Store::add};
      product(at, row, std::min(x.rows, row + kRowsPerTile));
    }
  });
}

}  // namespace agon::kernels
