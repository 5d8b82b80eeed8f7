#include "agents/learn/network/packed_group.h"

namespace agon::agents {
namespace {

// Positions that start at `start`, which advances past them.
PackedSequence sequence_at(const EncodedPrompt& text, const ModelConfig& config, std::int32_t* start) {
  std::int32_t next = 0;
  PackedSequence sequence{text.ids, mrope_positions(text.ids, grids_of(text.images), config, &next), text.images};
  for (auto& position : sequence.positions)
    for (std::int32_t& axis : position) axis += *start;
  *start += next;
  return sequence;
}

}  // namespace

std::vector<ImageGrid> grids_of(const std::vector<std::shared_ptr<const PatchedImage>>& images) {
  std::vector<ImageGrid> grids;
  for (const auto& image : images) grids.push_back(image->grid);
  return grids;
}

PackedGroup make_packed_group(const EncodedPrompt& prompt, std::span<const EncodedPrompt> responses,
                              const ModelConfig& config) {
  std::int32_t next = 0;
  PackedGroup group{sequence_at(prompt, config, &next), {}};
  for (const EncodedPrompt& response : responses) {
    std::int32_t start = next;
    group.responses.push_back(sequence_at(response, config, &start));
  }
  return group;
}

}  // namespace agon::agents
