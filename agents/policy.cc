#include "agents/policy.h"

namespace agon::agents {

std::string_view to_string(FinishReason reason) { return reason == FinishReason::stop ? "stop" : "length"; }

}  // namespace agon::agents
