// kernels/patchify/patchify.h - a picture, or a video frame by frame, as rows of normalised patches: the input of
// the vision tower.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"

namespace agon::kernels {

struct PatchifyInput {
  const std::uint8_t* rgb = nullptr;  // [height, width, 3]
  int height = 0, width = 0;          // multiples of patch * merge
  int patch = 14, merge = 2;          // pixels, patches
  int temporal = 2;                   // frames of a patch: copies of a still picture, or those of a video
  float mean[3] = {}, std[3] = {};    // a value is (byte / 255 - mean) / std
  int frame = -1;                     // of a patch, that is written; the others stay as they are; -1: all
};
const char* patchify_problem(const PatchifyInput& input);  // what is wrong with the shape; nullptr: nothing

// out [height / patch * width / patch, 3 * temporal * patch * patch], rows in merge-block order: (block row, block
// column, row in block, column in block). REQUIRES: no patchify_problem.
void patchify(const PatchifyInput& input, float* out, const ParallelFor& parallel = {});
namespace reference {  // in double
void patchify(const PatchifyInput& input, float* out);
}
}  // namespace agon::kernels
