// env/grading/text_similarity.h - scores how similar two short texts are. Rewards use this interface; a caller with a
// language model can supply a better implementation (agents/learn/network/sentence_encoder.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon::env {

// Thread-safe.
class TextSimilarity {
 public:
  virtual ~TextSimilarity() = default;
  // In [-1, 1]. 1: the same meaning, as far as the implementation can tell.
  virtual double similarity(std::string_view a, std::string_view b) const = 0;
  virtual std::string name() const = 0;  // for logs: what a figure was measured with
};

// The cosine of the two texts' word counts after normalisation (env/grading/published_rules.h); synonyms count as
// different words. 0 if a text has no words.
std::shared_ptr<const TextSimilarity> word_overlap_similarity();

}  // namespace agon::env
