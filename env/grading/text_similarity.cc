#include "env/grading/text_similarity.h"

#include <cmath>
#include <map>

#include "core/text.h"
#include "env/grading/published_rules.h"

namespace agon::env {
namespace {

using WordCounts = std::map<std::string, double>;

WordCounts count_words(std::string_view text) {
  WordCounts counts;
  for (const std::string& word : split_words(normalize_answer(text))) ++counts[word];
  return counts;
}

double product(const WordCounts& a, const WordCounts& b) {
  double sum = 0;
  for (const auto& [word, count] : a)
    if (const auto found = b.find(word); found != b.end()) sum += count * found->second;
  return sum;
}

class WordOverlap final : public TextSimilarity {
 public:
  double similarity(std::string_view a, std::string_view b) const override {
    const WordCounts left = count_words(a), right = count_words(b);
    const double lengths = std::sqrt(product(left, left) * product(right, right));
    return lengths > 0 ? product(left, right) / lengths : 0;
  }
  std::string name() const override { return "word overlap"; }
};

}  // namespace

std::shared_ptr<const TextSimilarity> word_overlap_similarity() {
  static const auto instance = std::make_shared<const WordOverlap>();
  return instance;
}

}  // namespace agon::env
