// cli/policy_needs.h - what a command needs of a policy, asked before its run starts: a server may lack what a model on
// this machine has.
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
