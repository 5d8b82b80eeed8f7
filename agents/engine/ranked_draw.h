// agents/engine/ranked_draw.h - draws an id from a row of logits with top-k, top-p and min-p, without sorting the
// vocabulary: ids are put in buckets by their logits, and only the buckets with a cut or with the drawn id are sorted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace agon::agents {

struct RankedDrawScratch {
  std::vector<std::uint16_t> buckets, allowed_buckets;  // of every logit; of the allowed ids only
  std::vector<double> mass;                             // of the allowed ids in each bucket
  std::vector<std::int32_t> count;
  struct Entry {
    std::uint32_t key;  // decreases as the logit increases
    std::int32_t id;
  };
  std::vector<Entry> sorted, other;
};

// Represents the allowed ids sorted by descending logit, equal logits by ascending id. Each keep_ function cuts off the
// end of this list. Cuts and draws give the same result as on the sorted list (up to rounding: weights are summed in
// double, bucket by bucket).
class RankedDraw {
 public:
  // logits, weights [vocabulary]. Weights are finite and from 0 to e^((logit - max) * inverse_temperature).
  // allowed: ascending, without duplicates. Keeps references to logits and weights; `scratch` belongs to one thread.
  RankedDraw(std::span<const float> logits, std::span<const float> weights, std::span<const std::int32_t> allowed,
             float max, float inverse_temperature, RankedDrawScratch& scratch);
  void keep_first(std::int64_t count);  // keeps the first `count` remaining ids
  // Keeps the smallest number of first ids that hold `share` of the remaining mass.
  void keep_mass(double share);
  // Keeps the ids whose probability is at least `share` times that of the logit `max`. REQUIRES: 0 < share <= 1.
  void keep_likely(double share);
  // Draws an id by weight, given `uniform` in [0, 1). Returns -1 if all remaining weights are 0.
  std::int32_t draw(double uniform);

 private:
  // The remaining ids: all buckets before `bucket`, and the first `within` ids of `bucket`.
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
