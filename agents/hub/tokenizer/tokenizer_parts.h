// agents/hub/tokenizer/tokenizer_parts.h - reads a tokenizer.json with its two long lists separate from the rest, so
// that a hundred thousand words never become JSON values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"

namespace agon::agents {

struct TokenizerParts {
  nlohmann::json rest;  // everything else; model.vocab (if an object) and model.merges (if a list) are empty in it
  std::vector<std::pair<std::string, std::int32_t>> vocabulary;  // in any order; of equal words the last one counts
  std::vector<std::pair<std::string, std::string>> merges;       // in order of rank
};

// Throws Error, starting "tokenizer {source}:", for text that is not JSON or nested too deep, for an id that is not
// a non-negative whole number, and for a merge that is not two tokens.
TokenizerParts read_tokenizer_parts(std::string_view tokenizer_json, const std::string& source);
// The text of a tokenizer.json: keys sorted, merges as "a b" unless a part of one contains a blank.
std::string tokenizer_json(const TokenizerParts& parts);

// Throws Error for a tokenizer that agon does not support, with a list of those that it does.
[[noreturn]] void refuse_tokenizer(const std::string& source, const std::string& what);

}  // namespace agon::agents
