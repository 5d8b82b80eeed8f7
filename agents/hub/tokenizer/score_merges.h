// agents/hub/tokenizer/score_merges.h - the merges that scores stand for. SentencePiece, and GGUF after it, keep a
// score for each token and merge the neighbours that make the token of the highest score; tokenizer.json lists merges
// by rank.
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

// Every way to cut a token into two others, by falling score of the token; of one score, those with the longer left
// part first, as transformers converts them. Throws Error for more than millions. REQUIRES: scores are
// finite.
std::vector<std::pair<std::string, std::string>> merges_of_scores(std::span<const ScoredToken> tokens);

}  // namespace agon::agents
