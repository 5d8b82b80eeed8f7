// agents/hub/tokenizer/tokenizer_learner.h - trains a tokenizer (agents/hub/tokenizer/tokenizer.h) on texts.
#pragma once

#include <span>
#include <string>

namespace agon::agents {

// Learns a byte-level BPE tokenizer of the Qwen2 pipeline. It has 256 bytes and merges learned from `texts` (most
// frequent pair first, ties by byte order). Merging ends when the vocabulary, including special and tag tokens, has
// `vocab_size` entries, or when no pair occurs twice.
// special_tokens are marked special (never shown), tag_tokens are added tokens that stay visible text ("<answer>").
// Deterministic. Returns the text of a tokenizer.json.
std::string learn_tokenizer(std::span<const std::string> texts, int vocab_size,
                            std::span<const std::string> special_tokens, std::span<const std::string> tag_tokens);

}  // namespace agon::agents
