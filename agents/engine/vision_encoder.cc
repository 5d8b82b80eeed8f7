#include "agents/engine/vision_encoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "agents/engine/transformer_block.h"
#include "agents/hub/pictures/place_taps.h"
#include "kernels/activation/activation.h"
#include "kernels/attention/attention.h"
#include "kernels/rotary/rotary.h"

namespace agon::agents {
namespace {

using kernels::ParallelFor;
using kernels::Store;

constexpr float kEpsilon = 1e-6f;        // fixed in the architecture
constexpr float kRotaryBase = 10000.0f;  // likewise

struct PatchRotary {
  std::vector<float> cosines, sines;  // [patches, head_dim / 2]: the row's angles, then the column's
};

PatchRotary patch_rotary(const ImageGrid& grid, const VisionConfig& config) {
  const int merge = config.spatial_merge_size, quarter = config.hidden_size / config.num_heads / 4;
  PatchRotary table;
  const auto add = [&](int position) {
    for (int i = 0; i < quarter; ++i) {
      const float frequency = 1.0f / std::pow(kRotaryBase, static_cast<float>(i) / static_cast<float>(quarter));
      const float angle = static_cast<float>(position) * frequency;
      table.cosines.push_back(std::cos(angle));
      table.sines.push_back(std::sin(angle));
    }
  };
  for (int frame = 0; frame < grid.t; ++frame)
    for (int row = 0; row < grid.h; row += merge)
      for (int column = 0; column < grid.w; column += merge)
        for (int cell = 0; cell < merge * merge; ++cell) {
          add(row + cell / merge);
          add(column + cell % merge);
        }
  return table;
}

void add_places(const VisionWeights& weights, const VisionConfig& config, const ImageGrid& grid, float* x) {
  if (weights.places.empty()) return;
  const std::int64_t hidden = config.hidden_size;
  for (const PlaceTaps& taps : place_taps(grid, config)) {
    for (std::size_t tap = 0; tap < taps.places.size(); ++tap) {
      const float* const place = weights.places.data() + taps.places[tap] * hidden;
      for (std::int64_t i = 0; i < hidden; ++i) x[i] += taps.weights[tap] * place[i];
    }
    x += hidden;
  }
}

// x [patches, hidden] -> [image tokens, out_hidden_size]. adapter: may be null.
std::vector<float> merge(const MergerWeights& weights, const MergerAdapter* adapter, const std::vector<float>& x,
                         BlockScratch& scratch, const ParallelFor& parallel) {
  const std::int64_t tokens = std::ssize(x) / weights.in.inputs;
  std::vector<float> normed(x.size()), inner(x.size());
  std::vector<float> out(static_cast<std::size_t>(tokens * weights.out.outputs));
  run_norm(weights.norm, kEpsilon, x.data(), std::ssize(x) / std::ssize(weights.norm.weight), normed.data());
  const auto run = [&](const TypedLinear& linear, LowRankLinear MergerAdapter::*added, const float* in, float* y) {
    run_linear(linear, in, tokens, y, Store::set, scratch.linear, parallel);
    if (adapter) add_low_rank(adapter->*added, in, tokens, y, linear.outputs, scratch.low_rank, parallel);
  };
  run(weights.in, &MergerAdapter::in, normed.data(), inner.data());
  kernels::gelu(inner.data(), std::ssize(inner));
  run(weights.out, &MergerAdapter::out, inner.data(), out.data());
  return out;
}

// Interleaves parts [vectors per token][image tokens, size] so that the vectors of each image token are adjacent.
std::vector<float> by_token(const std::vector<std::vector<float>>& parts, std::int64_t size) {
  if (parts.size() == 1) return parts.front();
  std::vector<float> all;
  all.reserve(parts.size() * parts.front().size());
  for (std::int64_t at = 0; at < std::ssize(parts.front()); at += size)
    for (const std::vector<float>& part : parts) all.insert(all.end(), part.begin() + at, part.begin() + at + size);
  return all;
}

// Attention of one head within one segment.
void attend_segment(const VisionConfig& config, const PatchSegment& segment, const float* qkv, int head, float* out) {
  const int hidden = config.hidden_size, size = hidden / config.num_heads, stride = 3 * hidden;
  const int unit = config.spatial_merge_size * config.spatial_merge_size;
  const kernels::KeyFormat format{kernels::KeyType::f32, size};
  thread_local kernels::AlignedFloats memory, scratch;
  thread_local std::vector<const std::byte*> pages;
  const std::int64_t keys = static_cast<std::int64_t>(segment.size()) * unit, block = kernels::key_block_bytes(format);
  const std::int64_t count = (keys + kernels::kKeyBlock - 1) / kernels::kKeyBlock;
  memory.require(static_cast<std::size_t>(count * block) / sizeof(float));
  std::byte* const blocks = reinterpret_cast<std::byte*>(memory.data());
  pages.clear();
  for (std::int64_t i = 0; i < count; ++i) pages.push_back(blocks + i * block);
  for (std::int64_t j = 0; j < keys; ++j) {
    const float* row = qkv + (segment[static_cast<std::size_t>(j / unit)] + j % unit) * stride + head * size;
    kernels::put_key(format, row + hidden, row + 2 * hidden, blocks + j / kernels::kKeyBlock * block,
                     static_cast<int>(j % kernels::kKeyBlock));
  }
  thread_local std::vector<kernels::AttentionQuery> queries;
  queries.clear();
  for (const std::int64_t first : segment)
    for (std::int64_t row = first; row < first + unit; ++row)
      queries.push_back({qkv + row * stride + head * size, out + row * hidden + head * size, {}});
  kernels::attention(queries, {pages.data(), 0, keys}, format, 1.0f / std::sqrt(static_cast<float>(size)), scratch);
}

}  // namespace

std::vector<PatchSegment> window_segments(const ImageGrid& grid, const VisionConfig& config) {
  const int merge = config.spatial_merge_size, unit = merge * merge, rows = grid.h / merge, columns = grid.w / merge;
  const int window = config.window_size / merge / config.patch_size;
  std::vector<PatchSegment> segments;
  for (int frame = 0; frame < grid.t; ++frame)
    for (int top = 0; top < rows; top += window)
      for (int left = 0; left < columns; left += window) {
        PatchSegment& segment = segments.emplace_back();
        for (int row = top; row < std::min(rows, top + window); ++row)
          for (int column = left; column < std::min(columns, left + window); ++column)
            segment.push_back(((frame * rows + row) * columns + column) * unit);
      }
  return segments;
}

std::vector<PatchSegment> frame_segments(const ImageGrid& grid, const VisionConfig& config) {
  const int unit = config.spatial_merge_size * config.spatial_merge_size, patches = grid.h * grid.w;
  std::vector<PatchSegment> segments(static_cast<std::size_t>(grid.t));
  for (int row = 0; row < grid.t * patches; row += unit)
    segments[static_cast<std::size_t>(row / patches)].push_back(row);
  return segments;
}

std::vector<float> encode_image(const VisionWeights& weights, const VisionConfig& config, const PatchedImage& image,
                                const ParallelFor& parallel, const VisionAdapter* adapter) {
  const std::int64_t rows = image.grid.patches(), hidden = config.hidden_size;
  const int heads = config.num_heads;
  assert(static_cast<std::int64_t>(image.patches.size()) == rows * weights.patch_embed.inputs);
  const PatchRotary rotary = patch_rotary(image.grid, config);
  const std::vector<PatchSegment> frames = frame_segments(image.grid, config);
  std::vector<PatchSegment> windows;
  if (config.tower->has_windows) windows = window_segments(image.grid, config);
  BlockScratch scratch;
  std::vector<float> x(static_cast<std::size_t>(rows * hidden));
  run_linear(weights.patch_embed, image.patches.data(), rows, x.data(), Store::set, scratch.linear, parallel);
  add_places(weights, config, image.grid, x.data());
  std::vector<std::vector<float>> parts(1);
  for (int i = 0; i < config.depth; ++i) {
    const std::vector<PatchSegment>& segments = config.sees_whole_frame(i) ? frames : windows;
    std::vector<AdaptedRows> adapted;
    if (adapter) adapted.push_back({0, rows, &adapter->blocks[static_cast<std::size_t>(i)]});
    run_block(weights.blocks[static_cast<std::size_t>(i)], adapted, kEpsilon, x.data(), rows, scratch, parallel,
              [&](float* qkv, float* attended) {
                kernels::rotate(qkv, rows, 3 * hidden, 2 * heads, static_cast<int>(hidden) / heads,
                                rotary.cosines.data(), rotary.sines.data());
                const auto pieces = static_cast<std::int64_t>(segments.size()) * heads;
                kernels::run_parallel(parallel, pieces, [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t p = begin; p < end; ++p)
                    attend_segment(config, segments[static_cast<std::size_t>(p / heads)], qkv,
                                   static_cast<int>(p % heads), attended);
                });
              });
    const std::size_t level = parts.size() - 1;
    if (level < config.deepstack_blocks.size() && config.deepstack_blocks[level] == i)
      parts.push_back(
          merge(weights.deepstack[level], adapter ? &adapter->deepstack[level] : nullptr, x, scratch, parallel));
  }
  parts.front() = merge(weights.merger, adapter ? &adapter->merger : nullptr, x, scratch, parallel);
  return by_token(parts, config.out_hidden_size);
}

}  // namespace agon::agents
