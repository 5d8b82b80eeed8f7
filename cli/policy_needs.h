// cli/policy_needs.h - checks before a run starts that its policy has the abilities that the command needs. A server
// may lack abilities that a local model has.
#pragma once

#include <string>

#include "agents/policy.h"
#include "agents/rollout.h"
#include "critic/search/search_run.h"

namespace agon::cli {

// Throw Error that names what is missing and what to use instead.
void require_plays(const std::string& command, const agents::Capabilities& policy,
                   const agents::RolloutOptions& options);
void require_searches(const agents::Capabilities& policy, const critic::SearchOptions& options);

}  // namespace agon::cli
