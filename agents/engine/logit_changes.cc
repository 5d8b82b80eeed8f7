#include "agents/engine/logit_changes.h"

#include <algorithm>
#include <limits>

namespace agon::agents {
namespace {

std::vector<std::int32_t> each_once(std::span<const std::int32_t> prompt, std::span<const std::int32_t> written) {
  std::vector<std::int32_t> ids(prompt.begin(), prompt.end());
  ids.insert(ids.end(), written.begin(), written.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

bool would_complete(std::span<const std::int32_t> run, std::span<const std::int32_t> written) {
  const std::span<const std::int32_t> before = run.first(run.size() - 1);
  return before.size() <= written.size() &&
         std::equal(before.begin(), before.end(), written.end() - std::ssize(before));
}

}  // namespace

void change_logits(const LogitChanges& changes, std::span<const std::int32_t> prompt,
                   std::span<const std::int32_t> written, std::span<const float> logits, std::vector<float>& changed) {
  changed.assign(logits.begin(), logits.end());
  const auto logit = [&](std::int32_t id) -> float& { return changed[static_cast<std::size_t>(id)]; };
  const auto repetition = static_cast<float>(changes.repetition_penalty),
             frequency = static_cast<float>(changes.frequency_penalty),
             presence = static_cast<float>(changes.presence_penalty);
  if (repetition != 1)
    for (const std::int32_t id : each_once(prompt, written))
      logit(id) = logit(id) > 0 ? logit(id) / repetition : logit(id) * repetition;
  if (frequency != 0)
    for (const std::int32_t id : written) logit(id) -= frequency;
  if (presence != 0)
    for (const std::int32_t id : each_once({}, written)) logit(id) -= presence;
  for (const auto& [id, bias] : changes.bias) logit(id) += bias;
  for (const std::vector<std::int32_t>& run : changes.banned)
    if (would_complete(run, written)) logit(run.back()) = -std::numeric_limits<float>::infinity();
}

}  // namespace agon::agents
