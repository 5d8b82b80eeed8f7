#include "agents/learn/credit/adpo_masks.h"

namespace agon::agents {

bool is_score(std::size_t, const CreditSegment& segment) { return segment.kind == env::SegmentKind::score; }

bool is_answer(std::size_t rollout, const CreditSegment& segment) {
  return is_written(rollout, segment) && !is_score(rollout, segment);
}

}  // namespace agon::agents
