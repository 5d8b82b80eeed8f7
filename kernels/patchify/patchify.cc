#include "kernels/patchify/patchify.h"

#include <cstring>
#include <vector>

#include "kernels/multiversion.h"

namespace agon::kernels {
namespace {

// One row of pixels -> three rows of normalised values.
AGON_MULTIVERSION void normalise_row(const std::uint8_t* rgb, int width, const float* scale, const float* offset,
                                     float* planes) {
  float* red = planes;
  float* green = planes + width;
  float* blue = planes + 2 * width;
  for (int x = 0; x < width; ++x) red[x] = static_cast<float>(rgb[3 * x]) * scale[0] + offset[0];
  for (int x = 0; x < width; ++x) green[x] = static_cast<float>(rgb[3 * x + 1]) * scale[1] + offset[1];
  for (int x = 0; x < width; ++x) blue[x] = static_cast<float>(rgb[3 * x + 2]) * scale[2] + offset[2];
}

// Row y of every patch in one row of patches; `rows` is where the row of merge blocks begins.
void scatter_row(const PatchifyInput& in, const float* planes, int y, float* rows) {
  const std::int64_t square = static_cast<std::int64_t>(in.patch) * in.patch, row_size = 3 * in.temporal * square;
  for (int column = 0; column < in.width / in.patch; ++column) {
    const std::int64_t row = column / in.merge * in.merge * in.merge + column % in.merge;
    float* to = rows + row * row_size + static_cast<std::int64_t>(y) * in.patch;
    for (int channel = 0; channel < 3; ++channel)
      for (int copy = 0; copy < in.temporal; ++copy, to += square)
        std::memcpy(to, planes + static_cast<std::int64_t>(channel) * in.width + column * in.patch,
                    sizeof(float) * static_cast<std::size_t>(in.patch));
  }
}

}  // namespace

const char* patchify_problem(const PatchifyInput& in) {
  if (in.patch < 1 || in.merge < 1 || in.temporal < 1) return "patch, merge and temporal are at least 1";
  const std::int64_t unit = static_cast<std::int64_t>(in.patch) * in.merge;
  if (in.height < 1 || in.width < 1) return "the picture is empty";
  if (in.height % unit != 0 || in.width % unit != 0) return "height and width are not multiples of patch * merge";
  if (in.rgb == nullptr) return "there are no pixels";
  if (!(in.std[0] > 0 && in.std[1] > 0 && in.std[2] > 0)) return "std is not positive";
  return nullptr;
}

void patchify(const PatchifyInput& in, float* out, const ParallelFor& parallel) {
  float scale[3], offset[3];
  for (int channel = 0; channel < 3; ++channel) {
    scale[channel] = static_cast<float>(1.0 / (255.0 * in.std[channel]));
    offset[channel] = static_cast<float>(-static_cast<double>(in.mean[channel]) / in.std[channel]);
  }
  const std::int64_t row_size = 3ll * in.temporal * in.patch * in.patch, columns = in.width / in.patch;
  run_parallel(parallel, in.height / in.patch, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> planes(3 * static_cast<std::size_t>(in.width));
    for (std::int64_t row = begin; row < end; ++row) {
      float* rows = out + (row / in.merge * in.merge * columns + row % in.merge * in.merge) * row_size;
      for (int y = 0; y < in.patch; ++y) {
        normalise_row(in.rgb + (row * in.patch + y) * in.width * 3, in.width, scale, offset, planes.data());
        scatter_row(in, planes.data(), y, rows);
      }
    }
  });
}

}  // namespace agon::kernels
