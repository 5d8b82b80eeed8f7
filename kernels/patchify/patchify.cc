#include "kernels/patchify/patchify.h"

#include <algorithm>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/multiversion.h"

namespace agon::kernels {
namespace {

constexpr int kStrip = 16;  // patches that are normalised together: their values stay in the cache

// Pixels of one row -> a row of normalised values for each channel, `stride` apart.
AGON_MULTIVERSION void normalise_row(const std::uint8_t* rgb, int count, const float* scale, const float* offset,
                                     float* planes, std::int64_t stride) {
  for (int x = 0; x < count; ++x) planes[x] = static_cast<float>(rgb[3 * x]) * scale[0] + offset[0];
  planes += stride;
  for (int x = 0; x < count; ++x) planes[x] = static_cast<float>(rgb[3 * x + 1]) * scale[1] + offset[1];
  planes += stride;
  for (int x = 0; x < count; ++x) planes[x] = static_cast<float>(rgb[3 * x + 2]) * scale[2] + offset[2];
}

// Copies patch x patch values from rows `width` apart. kPatch: the patch size if it is known at compile time, else 0.
template <int kPatch>
void copy_square(const float* from, std::int64_t width, int patch, float* to) {
  const auto row = static_cast<std::size_t>(kPatch > 0 ? kPatch : patch);
  for (int y = 0; y < patch; ++y, from += width, to += row) std::memcpy(to, from, sizeof(float) * row);
}

void copy_square(const float* from, std::int64_t width, int patch, float* to) {
  switch (patch) {  // sizes of the models in agents/hub: one memcpy call per row would take as long as the rest
    case 14:
      return copy_square<14>(from, width, patch, to);
    case 16:
      return copy_square<16>(from, width, patch, to);
    default:
      return copy_square<0>(from, width, patch, to);
  }
}

// Copies past the caches if the processor can: patches are large, and nobody reads them before all are written.
void copy_past_caches(const float* from, std::int64_t count, float* to) {
#if defined(__SSE2__)
  constexpr std::int64_t kLanes = 4;
  constexpr std::uintptr_t kAligned = kLanes * sizeof(float) - 1;
  if (count % kLanes == 0 && (reinterpret_cast<std::uintptr_t>(to) & kAligned) == 0) {
    for (std::int64_t i = 0; i < count; i += kLanes) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
    return;
  }
#endif
  std::copy_n(from, count, to);
}

// Other threads see such copies only after this.
void finish_copies() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// One patch whose values begin at `planes` [3, patch, width] -> out [3, temporal, patch, patch].
void write_patch(const PatchifyInput& in, const float* planes, std::int64_t width, float* out) {
  const std::int64_t square = static_cast<std::int64_t>(in.patch) * in.patch;
  const int first = std::max(in.frame, 0), end = in.frame < 0 ? in.temporal : in.frame + 1;
  for (int channel = 0; channel < 3; ++channel, out += in.temporal * square, planes += in.patch * width)
    for (int copy = first; copy < end; ++copy) copy_square(planes, width, in.patch, out + copy * square);
}

struct Scaling {
  float scale[3], offset[3];  // byte * scale + offset
};

Scaling scaling_of(const PatchifyInput& in) {
  Scaling result;
  for (int channel = 0; channel < 3; ++channel) {
    result.scale[channel] = static_cast<float>(1.0 / (255.0 * in.std[channel]));
    result.offset[channel] = static_cast<float>(-static_cast<double>(in.mean[channel]) / in.std[channel]);
  }
  return result;
}

// Writes up to kStrip patches of one row of patches, starting at patch `left`; `planes` is scratch memory for their
// values.
void write_strip(const PatchifyInput& in, const Scaling& scaling, std::int64_t row, int left, float* planes,
                 float* patch, float* out) {
  const int columns = in.width / in.patch, end = std::min(left + kStrip, columns), merge = in.merge;
  const std::int64_t strip_width = kStrip * in.patch, row_size = 3ll * in.temporal * in.patch * in.patch;
  for (int y = 0; y < in.patch; ++y)
    normalise_row(in.rgb + ((row * in.patch + y) * in.width + left * in.patch) * 3, (end - left) * in.patch,
                  scaling.scale, scaling.offset, planes + y * strip_width, in.patch * strip_width);
  for (int column = left; column < end; ++column) {
    const std::int64_t block = row / merge * merge * columns + column / merge * merge * merge;
    const std::int64_t place = block + row % merge * merge + column % merge;
    if (in.frame < 0) {
      write_patch(in, planes + (column - left) * in.patch, strip_width, patch);
      copy_past_caches(patch, row_size, out + place * row_size);
    } else {
      write_patch(in, planes + (column - left) * in.patch, strip_width, out + place * row_size);
    }
  }
}

}  // namespace

const char* patchify_problem(const PatchifyInput& in) {
  if (in.patch < 1 || in.merge < 1 || in.temporal < 1) return "patch, merge and temporal are at least 1";
  if (in.frame >= in.temporal) return "the frame is past those of a patch";
  const std::int64_t unit = static_cast<std::int64_t>(in.patch) * in.merge;
  if (in.height < 1 || in.width < 1) return "the picture is empty";
  if (in.height % unit != 0 || in.width % unit != 0) return "height and width are not multiples of patch * merge";
  if (in.rgb == nullptr) return "there are no pixels";
  if (!(in.std[0] > 0 && in.std[1] > 0 && in.std[2] > 0)) return "std is not positive";
  return nullptr;
}

void patchify(const PatchifyInput& in, float* out, const ParallelFor& parallel) {
  const Scaling scaling = scaling_of(in);
  run_parallel(parallel, in.height / in.patch, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> planes(3 * static_cast<std::size_t>(in.patch) * static_cast<std::size_t>(in.patch) * kStrip);
    std::vector<float> patch(3 * static_cast<std::size_t>(in.temporal) * static_cast<std::size_t>(in.patch) *
                             static_cast<std::size_t>(in.patch));
    for (std::int64_t row = begin; row < end; ++row)
      for (int left = 0; left < in.width / in.patch; left += kStrip)
        write_strip(in, scaling, row, left, planes.data(), patch.data(), out);
    finish_copies();
  });
}

}  // namespace agon::kernels
