// agents/engine/vision_encoder.h - the vision tower of the engine, which turns a picture's patches into the embeddings
// of its image tokens. A picture's result depends on that picture alone.
#pragma once

#include <vector>

#include "agents/engine/adapter.h"
#include "agents/engine/weights.h"
#include "agents/hub/model_config.h"
#include "agents/hub/pictures/image_processor.h"
#include "kernels/parallel.h"

namespace agon::agents {

// Returns [image tokens, vectors_a_token(), out_hidden_size], in the order of the image tokens. adapter: null, or one
// that adapts the tower. REQUIRES: a grid of whole merge blocks, and as many patches as it has.
std::vector<float> encode_image(const VisionWeights& weights, const VisionConfig& config, const PatchedImage& image,
                                const kernels::ParallelFor& parallel, const VisionAdapter* adapter = nullptr);

// Patches that attend to one another: a whole frame or a window of it, as units of merge_size^2 consecutive rows.
using PatchSegment = std::vector<int>;  // first row of each unit
std::vector<PatchSegment> frame_segments(const ImageGrid& grid, const VisionConfig& config);
std::vector<PatchSegment> window_segments(const ImageGrid& grid, const VisionConfig& config);

}  // namespace agon::agents
