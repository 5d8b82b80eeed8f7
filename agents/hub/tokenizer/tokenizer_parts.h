// agents/hub/tokenizer/tokenizer_parts.h - a tokenizer.json with its two long lists apart from the rest, so that a
// hundred thousand words are never JSON values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"

namespace agon::agents {

struct TokenizerParts {
  nlohmann::json rest;  // all else: model.vocab and model.merges are empty in it, if they are an object and a list
  std::vector<std::pair<std::string, std::int32_t>> vocabulary;  // in any order; the last one of a word counts
  std::vector<std::pair<std::string, std::string>> merges;       // in order of rank
};

// Throws Error, starting "tokenizer {source}:", for text that is not JSON or nested too deep, for an id that is not a
// whole number from 0 on, and for a merge that is not two tokens.
TokenizerParts read_tokenizer_parts(std::string_view tokenizer_json, const std::string& source);
// The text of a tokenizer.json: keys in order of the alphabet, merges as "a b" if no part of one has a blank.
std::string tokenizer_json(const TokenizerParts& parts);

// An error of a tokenizer, with what agon reads.
[[noreturn]] void refuse_tokenizer(const std::string& source, const std::string& what);

}  // namespace agon::agents
