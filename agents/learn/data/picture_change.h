// agents/learn/data/picture_change.h - changes a picture so that it no longer shows its content as before: PDCR
// compares with it to measure a step's visual dependence (Eq. 7, Fig. 7).
#pragma once

#include <cstdint>
#include <string>

#include "core/pictures/image.h"

namespace agon::agents {

enum class PictureChange {
  white,   // a white picture
  blur,    // Gaussian, sigma 5 pixels
  noise,   // Gaussian noise of mean 0 and sigma 1 in units of the whole range of a channel, cut to it
  rotate,  // by 90 degrees clockwise
};
PictureChange parse_picture_change(const std::string& name);  // throws Error naming the nearest

// seed: for the noise.
Image changed_picture(const Image& picture, PictureChange change, std::uint64_t seed);

}  // namespace agon::agents
