// env/grading/text_similarity.h - how alike two short texts are. Rewards use this interface; a caller with a language
// model can supply a better one (agents/learn/network/sentence_encoder.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace agon::env {

// Thread-safe.
class TextSimilarity {
 public:
  virtual ~TextSimilarity() = default;
  // 1: the same meaning, as far as this one can tell; at least -1.
  virtual double similarity(std::string_view a, std::string_view b) const = 0;
  virtual std::string name() const = 0;  // for logs: what a figure was measured with
};

// The cosine of the two texts' word counts after normalisation (env/grading/published_rules.h): knows no synonyms. 0
// where a text has no word.
std::shared_ptr<const TextSimilarity> word_overlap_similarity();

}  // namespace agon::env
