#include <cuda_runtime_api.h>

#include "kernels/patchify/patchify.h"

namespace agon::kernels::cuda {
namespace {

// One thread a pixel and channel of a patch row, in the order of `out`, so that writes are coalesced; it writes all
// temporal copies.
__global__ void patchify_kernel(PatchifyInput in, std::int64_t count, float* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int square = in.patch * in.patch, pixel = static_cast<int>(i % square);
  const int channel = static_cast<int>(i / square % 3);
  const std::int64_t row = i / square / 3, block = row / (in.merge * in.merge);
  const int in_block = static_cast<int>(row % (in.merge * in.merge)), blocks_wide = in.width / (in.patch * in.merge);
  const std::int64_t patch_y = block / blocks_wide * in.merge + in_block / in.merge;
  const std::int64_t patch_x = block % blocks_wide * in.merge + in_block % in.merge;
  const std::int64_t y = patch_y * in.patch + pixel / in.patch, x = patch_x * in.patch + pixel % in.patch;

  const float byte = in.rgb[(y * in.width + x) * 3 + channel];
  const float value = (byte / 255.0f - in.mean[channel]) / in.std[channel];
  float* to = out + (row * 3 + channel) * in.temporal * square + pixel;
  for (int copy = 0; copy < in.temporal; ++copy) to[copy * square] = value;
}

}  // namespace

int patchify(const PatchifyInput& in, float* out, void* stream) {
  constexpr int kThreads = 256;
  const std::int64_t count = 3ll * in.height * in.width, blocks = (count + kThreads - 1) / kThreads;
  patchify_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(in, count, out);
  return cudaGetLastError();
}

}  // namespace agon::kernels::cuda
