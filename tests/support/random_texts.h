// tests/support/random_texts.h - random token sequences with pictures for the golden models, and the model's states for
// one of them.
#pragma once

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "agents/hub/prompt.h"
#include "agents/learn/network/transformer_network.h"
#include "core/rng.h"

namespace agon::test {

using agents::EncodedPrompt;
using agents::ImageGrid;

// Random text and pictures for a golden model.
class TextMaker {
 public:
  TextMaker(const agents::ModelConfig& config, std::uint64_t seed) : config_(config), rng_(seed) {}

  // `words` tokens before, between and after the pictures.
  EncodedPrompt text(int words, const std::vector<ImageGrid>& grids = {}) {
    EncodedPrompt result;
    add_words(result, words);
    for (const ImageGrid& grid : grids) {
      add_picture(result, grid);
      add_words(result, words);
    }
    return result;
  }

 private:
  void add_words(EncodedPrompt& text, int words) {
    for (int i = 0; i < words; ++i) text.ids.push_back(rng_.between(0, 39));
  }
  void add_picture(EncodedPrompt& text, const ImageGrid& grid) {
    const agents::VisionConfig& vision = *config_.vision;
    agents::PatchedImage image{grid, {}, {}};
    const int width = vision.in_channels * vision.temporal_patch_size * vision.patch_size * vision.patch_size;
    for (int i = 0; i < grid.patches() * width; ++i)
      image.patches.push_back(static_cast<float>(rng_.uniform() * 4 - 2));
    text.ids.push_back(config_.vision_start_token_id);
    text.ids.insert(text.ids.end(), static_cast<std::size_t>(grid.patches() / 4), config_.image_token_id);
    text.ids.push_back(config_.vision_end_token_id);
    text.images.push_back(std::make_shared<const agents::PatchedImage>(std::move(image)));
  }
  const agents::ModelConfig& config_;
  Rng rng_;
};

inline EncodedPrompt joined(const EncodedPrompt& a, const EncodedPrompt& b) {
  EncodedPrompt result = a;
  result.ids.insert(result.ids.end(), b.ids.begin(), b.ids.end());
  result.images.insert(result.images.end(), b.images.begin(), b.images.end());
  return result;
}

// Hidden states of one sequence by itself, [length, H].
inline at::Tensor alone(agents::TransformerNetwork& model, const EncodedPrompt& text) {
  std::vector<ImageGrid> grids;
  std::vector<at::Tensor> patches;
  for (const auto& image : text.images) {
    grids.push_back(image->grid);
    patches.push_back(at::tensor(image->patches).view({image->grid.patches(), -1}));
  }
  const auto length = static_cast<std::int64_t>(text.ids.size());
  const auto places = agents::mrope_positions(text.ids, grids, model.config(), nullptr);
  at::Tensor positions = at::zeros({3, 1, length}, at::kLong);
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t axis = 0; axis < 3; ++axis)
      positions[axis][0][i] = places[static_cast<std::size_t>(i)][static_cast<std::size_t>(axis)];
  const at::Tensor images = grids.empty() ? at::Tensor() : model.encode_images(at::cat(patches), grids);
  const at::Tensor ids = at::tensor(std::vector<std::int64_t>(text.ids.begin(), text.ids.end())).view({1, length});
  return model.hidden_states(ids, positions, images, std::vector<std::int64_t>{length})[0];
}

}  // namespace agon::test
