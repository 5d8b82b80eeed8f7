// tests/support/golden/engine.h - compares the engine and its parts on a golden checkpoint with the results in its
// golden file.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "agents/engine/compute_pool.h"
#include "agents/engine/engine.h"
#include "agents/engine/vision_encoder.h"
#include "agents/hub/prompt.h"
#include "golden/checkpoint.h"
#include "kernel_testing.h"

namespace agon::test {

// An engine with fp32 weights.
inline std::unique_ptr<agents::Engine> engine_of(const GoldenCheckpoint& model,
                                                 const agents::EngineOptions& options = {}) {
  return std::make_unique<agents::Engine>(
      agents::load_engine_weights(model.folder, model.config, agents::WeightKind::f32), model.config,
      std::make_shared<LetterTokenizer>(), options);
}

inline std::vector<agents::ImageGrid> grids_of(const agents::EncodedPrompt& prompt) {
  std::vector<agents::ImageGrid> grids;
  for (const auto& image : prompt.images) grids.push_back(image->grid);
  return grids;
}

// Checks that the vision tower's embeddings are the golden ones, with the same bits for one thread and for three.
inline void check_vision_tower(const GoldenCheckpoint& model) {
  const auto weights = agents::load_engine_weights(model.folder, model.config, agents::WeightKind::f32);
  std::vector<float> all;
  for (const auto& image : model.images()) {
    const auto embeddings = agents::encode_image(weights.vision, *model.config.vision, *image, {});
    all.insert(all.end(), embeddings.begin(), embeddings.end());
    agents::ComputePool threads(3);
    const auto again = agents::encode_image(weights.vision, *model.config.vision, *image, threads.parallel());
    CHECK(same_bits(again.data(), embeddings.data(), embeddings.size()));
  }
  check_close(all, model.values<float>("images"), 1e-4, 1e-4);
}

// Checks that every row's positions are those of transformers' get_rope_index.
inline void check_positions(const GoldenCheckpoint& model) {
  const auto expected = model.values<std::int64_t>("positions");  // [3, B, S]
  for (int row = 0; row < model.rows; ++row) {
    const agents::EncodedPrompt prompt = model.prompt(row);
    const auto positions = agents::mrope_positions(prompt.ids, grids_of(prompt), model.config, nullptr);
    for (std::size_t i = 0; i < positions.size(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        CHECK(positions[i][static_cast<std::size_t>(axis)] ==
              expected[static_cast<std::size_t>((axis * model.rows + row) * model.columns) + i]);
  }
}

// log softmax of the golden logits at a place of a row, for every id.
inline std::vector<double> golden_logprobs(const GoldenCheckpoint& model, int row, std::size_t place,
                                           double temperature = 1) {
  const auto logits = model.values<float>("logits");
  const auto size = static_cast<std::size_t>(model.config.text.vocab_size);
  const std::size_t first = (static_cast<std::size_t>(row * model.columns) + place) * size;
  std::vector<double> result(size);
  double total = 0;
  for (std::size_t i = 0; i < size; ++i) result[i] = static_cast<double>(logits[first + i]) / temperature;
  for (const double logit : result) total += std::exp(logit);
  for (double& logit : result) logit -= std::log(total);
  return result;
}

// Checks the engine's scores of the last 4 ids of each row, which come after its pictures and videos.
inline void check_scores(agents::Engine& engine, const GoldenCheckpoint& model, double temperature = 1) {
  for (int row = 0; row < model.rows; ++row) {
    CAPTURE(row);
    const std::vector<std::int32_t> ids = model.prompt(row).ids;
    const std::size_t cut = ids.size() - 4;
    const std::vector<std::int32_t> rest(ids.begin() + static_cast<std::ptrdiff_t>(cut), ids.end());
    const auto scores = engine.score({{model.prompt(row, cut), rest, temperature}});
    REQUIRE(scores.at(0).logprobs.size() == rest.size());
    for (std::size_t i = 0; i < rest.size(); ++i)
      CHECK(static_cast<double>(scores[0].logprobs[i]) ==
            Approx(golden_logprobs(model, row, cut + i - 1, temperature)[static_cast<std::size_t>(rest[i])])
                .margin(1e-4));
  }
}

}  // namespace agon::test
