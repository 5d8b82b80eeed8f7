#include "tools/search/snippet.h"

#include <vector>

#include "core/text.h"

namespace agon::tools {
namespace {

constexpr std::size_t kBytesSeen = 64 << 10;

using Weights = std::map<std::string, double, std::less<>>;

struct Word {
  std::size_t begin, end;
  Weights::const_iterator entry;  // in the weights; end(): not a word of the query
};

std::vector<Word> words_of(WordTokenizer& tokenizer, std::string_view text, const Weights& weights) {
  std::vector<Word> words;
  tokenizer.tokenize(text, [&](std::string_view word, std::size_t begin, std::size_t end) {
    words.push_back({begin, end, weights.find(word)});
    return true;
  });
  return words;
}

// The index of the first word of the best window of `size` words.
std::size_t best_window(const std::vector<Word>& words, const Weights& weights, std::size_t size) {
  std::map<const std::string*, int> inside;
  double sum = 0, most = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].entry != weights.end() && inside[&words[i].entry->first]++ == 0) sum += words[i].entry->second;
    if (i >= size && words[i - size].entry != weights.end() && --inside[&words[i - size].entry->first] == 0)
      sum -= words[i - size].entry->second;
    if (sum <= most * (1 + 1e-9)) continue;
    most = sum;
    best = i < size ? 0 : i - size + 1;
  }
  return best;
}

}  // namespace

std::string snippet_of(WordTokenizer& tokenizer, std::string_view text, const Weights& weights,
                       std::size_t most_words) {
  const std::string_view seen = cut_text(text, kBytesSeen);
  const std::vector<Word> words = words_of(tokenizer, seen, weights);
  if (words.size() <= most_words && seen.size() == text.size()) return std::string(text);
  if (words.empty()) return std::string(cut_text(text, 300)) + "...";
  const std::size_t first = best_window(words, weights, most_words);
  const std::size_t last = std::min(first + most_words, words.size()) - 1;
  const bool at_end = last + 1 == words.size() && seen.size() == text.size();
  const std::size_t begin = first == 0 ? 0 : words[first].begin, end = at_end ? text.size() : words[last].end;
  return std::string(first == 0 ? "" : "...") + std::string(trim(text.substr(begin, end - begin))) +
         (at_end ? "" : "...");
}

}  // namespace agon::tools
