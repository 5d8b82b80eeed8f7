// agents/learn/data/picture_change.h - blanks or distorts a picture. PDCR compares the policy on the original and the
// changed picture to measure how much a step depends on it (Eq. 7, Fig. 7).
#pragma once

#include <cstdint>
#include <string>

#include "core/pictures/image.h"

namespace agon::agents {

enum class PictureChange {
  white,   // a white picture
  blur,    // Gaussian, sigma 5 pixels
  noise,   // Gaussian noise of mean 0 and sigma 1 in units of a channel's range, clipped to that range
  rotate,  // by 90 degrees clockwise
};
PictureChange parse_picture_change(const std::string& name);  // throws Error naming the nearest

// seed: for the noise.
Image changed_picture(const Image& picture, PictureChange change, std::uint64_t seed);

}  // namespace agon::agents
