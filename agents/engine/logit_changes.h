// agents/engine/logit_changes.h - applies penalties, biases and bans to the logits before a token is drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/policy.h"

namespace agon::agents {

// For each id, in this order:
//   repetition_penalty r   for ids in the prompt or written: logit > 0 ? logit / r : logit * r (arXiv 1909.05858)
//   frequency_penalty f    - f * number of times it was written
//   presence_penalty p     - p if it was written
//   bias                   + bias
//   banned                 - infinity if it would complete a banned run
// `changed` is overwritten with as many logits. REQUIRES: all ids are in the vocabulary.
void change_logits(const LogitChanges& changes, std::span<const std::int32_t> prompt,
                   std::span<const std::int32_t> written, std::span<const float> logits, std::vector<float>& changed);

}  // namespace agon::agents
