// agents/learn/network/packed_group.h - a prompt and the responses that continue it, with the positions of their
// tokens. agents/learn/network/packed_batch.h packs such groups into a batch. No torch here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agents/hub/prompt.h"

namespace agon::agents {

struct PackedSequence {
  std::vector<std::int32_t> ids;
  std::vector<std::array<std::int32_t, 3>> positions;       // one per id
  std::vector<std::shared_ptr<const PatchedImage>> images;  // of its own image tokens, in order
};

// A prompt and independent responses to it. A response may contain later user turns with pictures, and may be empty.
struct PackedGroup {
  PackedSequence prompt;
  std::vector<PackedSequence> responses;
};
// Positions are those of prompt + response: a response continues after the prompt's last position.
PackedGroup make_packed_group(const EncodedPrompt& prompt, std::span<const EncodedPrompt> responses,
                              const ModelConfig& config);

std::vector<ImageGrid> grids_of(const std::vector<std::shared_ptr<const PatchedImage>>& images);

}  // namespace agon::agents
