// agents/engine/ranked_draw.h - draws one of a row's likeliest ids without sorting the vocabulary: ids fall into
// buckets by their logits, and only a bucket in which a cut or the draw lies is put in order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace agon::agents {

struct RankedDrawScratch {
  std::vector<std::uint16_t> buckets, allowed_buckets;  // of every logit; of those that may be drawn
  std::vector<double> mass;                             // of each bucket
  std::vector<std::int32_t> count;
  struct Entry {
    std::uint32_t key;  // falls as the logit rises
    std::int32_t id;
  };
  std::vector<Entry> sorted, other;
};

// The list of allowed ids, sorted by falling logit, equal logits by rising id. It is whole at first. Cuts and the draw
// choose what they would choose in the sorted list (sums of weights are in double; only across buckets does their order
// differ).
class RankedDraw {
 public:
  // logits, weights [vocabulary]; weights are finite and not negative: e^((logit - max) * inverse_temperature) or less.
  // allowed: rising, each once. Keeps references to logits and weights; `scratch` belongs to one thread.
  RankedDraw(std::span<const float> logits, std::span<const float> weights, std::span<const std::int32_t> allowed,
             float max, float inverse_temperature, RankedDrawScratch& scratch);
  void keep_first(std::int64_t count);  // of what is left
  // The fewest first ones that hold `share` of the mass of what is left.
  void keep_mass(double share);
  // By weight, uniform in [0, 1); -1 if nothing that is left weighs anything.
  std::int32_t draw(double uniform);

 private:
  // What is left: the buckets before `bucket`, and the first `within` of that one.
  struct Cut {
    int bucket;
    std::int64_t within;
  };
  std::span<const RankedDrawScratch::Entry> kept_of(int bucket);
  double kept_mass(int bucket);
  double weight(const RankedDrawScratch::Entry& entry) const;
  void sort(int bucket);

  std::span<const float> logits_, weights_;
  RankedDrawScratch& scratch_;
  Cut cut_;
  int sorted_ = -1;  // the bucket that scratch_.sorted holds
};

}  // namespace agon::agents
