// tests/support/mutated_tokenizer.h - puts random mistakes into a tokenizer.json.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "agents/hub/tokenizer/tokenizer.h"
#include "core/error.h"
#include "core/rng.h"

namespace agon::test {

// Replaces one to four characters, or erases runs of up to 40.
inline std::string mutated(const std::string& file, Rng& rng) {
  std::string text = file;
  for (int n = rng.between(1, 4); n > 0; --n) {
    const auto place = static_cast<std::size_t>(rng.between(0, static_cast<int>(file.size()) - 1));
    if (rng.chance(0.5))
      text[std::min(place, text.size() - 1)] = static_cast<char>(rng.between(32, 126));
    else
      text.erase(std::min(place, text.size()), static_cast<std::size_t>(rng.between(1, 40)));
  }
  return text;
}

// The number of 150 mutated files that are refused with an Error; the others must encode the text.
inline int count_refused(const std::string& file, std::string_view text) {
  Rng rng(11);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    try {
      agents::Tokenizer::parse(mutated(file, rng), "mutated")->encode(text);
    } catch (const Error&) {
      ++refused;
    }
  }
  return refused;
}

}  // namespace agon::test
