#include "agents/engine/sequence.h"

#include <cstddef>

namespace agon::agents {

void EngineSequence::finish(FinishReason reason) {
  completion->text = text.text();
  for (const std::size_t end : text.token_ends()) completion->token_ends.push_back(static_cast<std::uint32_t>(end));
  completion->token_ends.resize(completion->token_ids.size(), static_cast<std::uint32_t>(completion->text.size()));
  completion->finish_reason = reason;
  completion->matched_stop = text.matched_stop();
  completion->prompt_tokens = static_cast<int>(request->ids.size());
  finished = true;
}

}  // namespace agon::agents
