// agents/hub/pictures/place_taps.h - the learned embeddings of places that each patch of a picture is given: those of a
// square are spread over the picture's grid, and interpolated between the four nearest.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"

namespace agon::agents {

struct PlaceTaps {
  std::array<std::int64_t, 4> places;  // indices of embeddings; those of a border may repeat
  std::array<float, 4> weights;        // their sum is 1
};
// Of every patch, in merge-block order. REQUIRES: a grid of whole merge blocks, config.position_embeddings > 0.
std::vector<PlaceTaps> place_taps(const ImageGrid& grid, const VisionConfig& config);

}  // namespace agon::agents
