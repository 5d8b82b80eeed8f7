// agents/learn/credit/adpo_masks.h - selects which tokens learn from which reward in ADPO (arXiv 2601.01483, Eq. 11):
// the tokens of the self-reported score learn from one reward, all other tokens of the policy from another.
#pragma once

#include "agents/learn/credit/group.h"

namespace agon::agents {

// Selects the tokens of the score (SegmentKind::score).
bool is_score(std::size_t rollout, const CreditSegment& segment);
// Selects the other tokens that the policy wrote: the answer, with its thoughts and calls of tools.
bool is_answer(std::size_t rollout, const CreditSegment& segment);

}  // namespace agon::agents
