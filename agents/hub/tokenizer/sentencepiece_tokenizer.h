// agents/hub/tokenizer/sentencepiece_tokenizer.h - SentencePiece's BPE as in Llama 2, TinyLlama and Mistral: blanks
// become "▁", text is not split into words otherwise, symbols are characters, and a character without a token becomes
// bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agents/hub/tokenizer/tokenizer.h"
#include "agents/hub/tokenizer/tokenizer_file.h"

namespace agon::agents {

// REQUIRES: the file has `blanks`.
std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(std::function<std::string()> json, TokenizerFile file);

}  // namespace agon::agents
