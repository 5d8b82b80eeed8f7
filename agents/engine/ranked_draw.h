// agents/engine/ranked_draw.h - draws an id from a row of logits, with top-k, top-p and min-p, without sorting the
// vocabulary: ids are put in buckets by their logits, and only a bucket with a cut or the draw is sorted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace agon::agents {

struct RankedDrawScratch {
  std::vector<std::uint16_t> buckets, allowed_buckets;  // of every logit; of the ids that may be drawn
  std::vector<double> mass;                             // of each bucket
  std::vector<std::int32_t> count;
  struct Entry {
    std::uint32_t key;  // falls as the logit rises
    std::int32_t id;
  };
  std::vector<Entry> sorted, other;
};

// The list of allowed ids, sorted by falling logit, equal logits by rising id. Initially it is complete. Cuts and the
// draw give the same result as on the sorted list (sums of weights are in double; their order differs only across
// buckets).
class RankedDraw {
 public:
  // logits, weights [vocabulary]; weights are finite and not negative: e^((logit - max) * inverse_temperature) or less.
  // allowed: rising, each once. Keeps references to logits and weights; `scratch` belongs to one thread.
  RankedDraw(std::span<const float> logits, std::span<const float> weights, std::span<const std::int32_t> allowed,
             float max, float inverse_temperature, RankedDrawScratch& scratch);
  void keep_first(std::int64_t count);  // keeps the first ids of the rest
  // Keeps the fewest first ids that hold `share` of the remaining mass.
  void keep_mass(double share);
  // Keeps the ids whose probability is at least `share` of e^max's. REQUIRES: 0 < share <= 1.
  void keep_likely(double share);
  // Draws by weight, uniform in [0, 1); -1 if all remaining weights are 0.
  std::int32_t draw(double uniform);

 private:
  // The remaining ids: the buckets before `bucket`, and the first `within` ids of that one.
  struct Cut {
    int bucket;
    std::int64_t within;
  };
  std::span<const RankedDrawScratch::Entry> kept_of(int bucket);
  double kept_mass(int bucket);
  double weight(const RankedDrawScratch::Entry& entry) const;
  void sort(int bucket);

  std::span<const float> logits_, weights_;
  float max_, inverse_temperature_, scale_;
  RankedDrawScratch& scratch_;
  Cut cut_;
  int sorted_ = -1;  // the bucket that scratch_.sorted holds
};

}  // namespace agon::agents
