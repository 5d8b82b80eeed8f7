// agents/hub/resize_bicubic.h - resizes pictures as PIL does.
#pragma once

#include "core/image.h"

namespace agon::agents {

struct Size {
  int width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

// PIL's antialiased bicubic (a = -0.5): equal to Image.resize(size, BICUBIC) within one level.
Image resize_bicubic(const Image& image, Size size);

}  // namespace agon::agents
