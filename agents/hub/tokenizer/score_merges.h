// agents/hub/tokenizer/score_merges.h - converts the scores of tokens to a list of merges. SentencePiece and GGUF store
// a score for each token and merge the neighbours whose token has the highest score; tokenizer.json lists merges by
// rank.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace agon::agents {

struct ScoredToken {
  std::string text;
  double score = 0;
};

// Every way to cut a token into two others, by descending score of the token; of equal scores, those with the longer
// left part first, as transformers converts them. Throws Error for more than 4 million merges. REQUIRES: scores are
// finite.
std::vector<std::pair<std::string, std::string>> merges_of_scores(std::span<const ScoredToken> tokens);

}  // namespace agon::agents
