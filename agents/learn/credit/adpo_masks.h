// agents/learn/credit/adpo_masks.h - the two disjoint masks of ADPO (Eq. 11), over the tokens that the policy wrote:
// the score, and everything else. Answer and score learn from separate rewards.
#pragma once

#include "agents/learn/credit/group.h"

namespace agon::agents {

// Selects the tokens of the score (SegmentKind::score).
bool is_score(std::size_t rollout, const CreditSegment& segment);
// Selects the other tokens that the policy wrote: the answer, with its thoughts and calls of tools.
bool is_answer(std::size_t rollout, const CreditSegment& segment);

}  // namespace agon::agents
