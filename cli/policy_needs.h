// cli/policy_needs.h - what a command needs of a policy, asked before its run starts: a server may lack what a model on
// this machine has.
#pragma once

#include <cstdint>
#include <string>

#include "agents/policy.h"
#include "agents/rollout.h"
#include "critic/search/search_run.h"
#include "env/suite.h"

namespace agon::cli {

// Whether the first task of the split does.
bool shows_pictures(const env::Suite& suite, env::Split split, std::uint64_t seed);

// Throw Error that names what is missing and what to use instead.
void require_plays(const std::string& command, const agents::Capabilities& policy,
                   const agents::RolloutOptions& options);
void require_searches(const agents::Capabilities& policy, const critic::SearchOptions& options);

}  // namespace agon::cli
