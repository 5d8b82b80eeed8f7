// tools/search/snippet.h - finds the part of a text that fits a query best.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/search/word_tokenizer.h"

namespace agon::tools {

// The window of `most_words` consecutive words that holds the query words with the largest sum of weights, each counted
// once, with "..." where the text continues. The whole text if it has at most `most_words` words. weights: by query
// word. Only the first 64 KiB of the text are searched.
std::string snippet_of(WordTokenizer& tokenizer, std::string_view text,
                       const std::map<std::string, double, std::less<>>& weights, std::size_t most_words);

}  // namespace agon::tools
