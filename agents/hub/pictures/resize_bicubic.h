// agents/hub/pictures/resize_bicubic.h - resizes pictures with the same bytes as PIL or torchvision, the two resamplers
// that the hub's image processors use.
#pragma once

#include "core/pictures/image.h"
#include "kernels/parallel.h"

namespace agon::agents {

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

// Both are bicubic (a = -0.5) and antialiased. They round their weights differently, so that some bytes differ by one
// level.
enum class Resampler {
  pil,          // like PIL's Image.resize(size, BICUBIC), up to PIL 12.1
  torchvision,  // like torchvision's resize(..., BICUBIC, antialias=True) of uint8 pictures, on a CPU with AVX2
};

// The bytes do not depend on `parallel`.
Image resize_bicubic(const Image& image, Size size, Resampler resampler = Resampler::pil,
                     const kernels::ParallelFor& parallel = {});

}  // namespace agon::agents
