// agents/hub/pictures/resize_bicubic.h - resizes pictures to the bytes of PIL or of torchvision, between which the
// hub's picture processors choose.
#pragma once

#include "core/pictures/image.h"

namespace agon::agents {

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

// Both are bicubic (a = -0.5) and antialiased; they round their weights differently, so that bytes differ by a level in
// places.
enum class Resampler {
  pil,          // as Image.resize(size, BICUBIC) of PIL up to 12.1
  torchvision,  // as its resize(..., BICUBIC, antialias=True) of bytes on a CPU with AVX2
};

Image resize_bicubic(const Image& image, Size size, Resampler resampler = Resampler::pil);

}  // namespace agon::agents
