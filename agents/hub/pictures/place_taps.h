// agents/hub/pictures/place_taps.h - interpolates learned position embeddings for the patches of a picture. The square
// of embeddings is stretched over the picture's grid, and each patch gets a weighted mean of the four nearest ones.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"

namespace agon::agents {

struct PlaceTaps {
  std::array<std::int64_t, 4> places;  // indices of embeddings; may repeat at a border
  std::array<float, 4> weights;        // their sum is 1
};
// The taps of every patch, in merge-block order. REQUIRES: a grid of whole merge blocks, config.position_embeddings >
// 0.
std::vector<PlaceTaps> place_taps(const ImageGrid& grid, const VisionConfig& config);

}  // namespace agon::agents
