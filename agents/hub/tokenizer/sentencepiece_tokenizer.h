// agents/hub/tokenizer/sentencepiece_tokenizer.h - the BPE of SentencePiece as Llama 2, TinyLlama and Mistral have it:
// blanks become "▁", no other split into words, symbols are characters, and one that has no token is written in bytes.
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
