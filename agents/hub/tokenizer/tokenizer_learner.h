// agents/hub/tokenizer/tokenizer_learner.h - trains a tokenizer (agents/hub/tokenizer/tokenizer.h) on texts.
#pragma once

#include <span>
#include <string>

namespace agon::agents {

// Learns a byte-level BPE tokenizer of the Qwen2 pipeline: 256 bytes, merges from `texts` (most frequent pair first,
// ties by byte order) until `vocab_size` without `special_tokens` and `tag_tokens` is reached or no pair occurs twice.
// special_tokens are marked special (never shown), tag_tokens are added tokens that stay visible text ("<answer>").
// Deterministic. Returns the text of a tokenizer.json.
std::string learn_tokenizer(std::span<const std::string> texts, int vocab_size,
                            std::span<const std::string> special_tokens, std::span<const std::string> tag_tokens);

}  // namespace agon::agents
