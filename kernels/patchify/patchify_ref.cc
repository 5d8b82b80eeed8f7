#include "kernels/patchify/patchify.h"

namespace agon::kernels::reference {

void patchify(const PatchifyInput& in, float* out) {
  const int unit = in.patch * in.merge;
  for (int block_y = 0; block_y < in.height; block_y += unit)
    for (int block_x = 0; block_x < in.width; block_x += unit)
      for (int patch_y = block_y; patch_y < block_y + unit; patch_y += in.patch)
        for (int patch_x = block_x; patch_x < block_x + unit; patch_x += in.patch)
          for (int channel = 0; channel < 3; ++channel)
            for (int copy = 0; copy < in.temporal; ++copy)
              for (int y = patch_y; y < patch_y + in.patch; ++y)
                for (int x = patch_x; x < patch_x + in.patch; ++x, ++out) {
                  if (in.frame >= 0 && in.frame != copy) continue;
                  const double value = in.rgb[(static_cast<std::int64_t>(y) * in.width + x) * 3 + channel] / 255.0;
                  *out = static_cast<float>((value - in.mean[channel]) / in.std[channel]);
                }
}

}  // namespace agon::kernels::reference
