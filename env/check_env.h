// env/check_env.h - the conformance check that every suite passes: seeded determinism, the reset/step contract,
// independence of forks, refused actions leave the state unchanged, finite rewards whose components add up, gold in no
// observation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/suite.h"

namespace agon::env {

// Plays `tasks` tasks of each split with demonstrations, random text and broken actions. Returns what is wrong, one
// line each; empty: conforms.
std::vector<std::string> check_env(const std::string& suite, const SuiteOptions& options, int tasks,
                                   std::uint64_t seed);

}  // namespace agon::env
