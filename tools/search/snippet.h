// tools/search/snippet.h - the part of a text that fits a query best.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/search/word_tokenizer.h"

namespace agon::tools {

// The `most_words` words in a row that hold the different words of `weights` with the largest sum, "..." where the text
// continues before or behind them; the whole text if it has no more words. Only the first 64 KiB are looked at.
std::string snippet_of(WordTokenizer& tokenizer, std::string_view text,
                       const std::map<std::string, double, std::less<>>& weights, std::size_t most_words);

}  // namespace agon::tools
