// kernels/patchify/patchify.h - turns a picture, or a video frame by frame, into rows of normalised patches, the input
// of the vision tower.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"

namespace agon::kernels {

struct PatchifyInput {
  const std::uint8_t* rgb = nullptr;  // [height, width, 3]
  int height = 0, width = 0;          // multiples of patch * merge
  int patch = 14, merge = 2;          // pixels, patches
  int temporal = 2;                   // frames per patch: copies of a still picture, or frames of a video
  float mean[3] = {}, std[3] = {};    // a value is (byte / 255 - mean) / std
  int frame = -1;                     // frame of each patch to write; the others stay unchanged; -1: all
};
const char* patchify_problem(const PatchifyInput& input);  // what is wrong with the input; nullptr: nothing

// out [height / patch * width / patch, 3 * temporal * patch * patch], rows in merge-block order: (block row, block
// column, row in block, column in block). REQUIRES: no patchify_problem.
void patchify(const PatchifyInput& input, float* out, const ParallelFor& parallel = {});
namespace reference {  // in double
void patchify(const PatchifyInput& input, float* out);
}
}  // namespace agon::kernels
