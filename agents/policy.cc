#include "agents/policy.h"

namespace agon::agents {

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::context:
      return "context";
  }
  return "";
}

void require_complete(const std::vector<Completion>& completions) {
  for (const Completion& completion : completions)
    if (!completion.failure.empty()) throw Error("{}", completion.failure);
}

}  // namespace agon::agents
