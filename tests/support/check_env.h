// tests/support/check_env.h - the conformance check that every suite passes: seeded determinism, the reset/step
// contract, independent forks, refused actions and failed resets that leave the state unchanged, finite rewards whose
// components add up, no gold in an observation (except the solution that a role shows), demonstrations that succeed and
// whose steps are labelled right, mistakes that do not succeed, corrupted steps that are labelled wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/suite.h"

namespace agon::env {

// Plays `tasks` tasks of each split with demonstrations, random text and broken actions, on envs that `make` builds.
// Returns what is wrong, one line each; empty: conforms.
std::vector<std::string> check_env(const EnvFactory& make, const SuiteInfo& info, int tasks, std::uint64_t seed);

// The same for a suite.
std::vector<std::string> check_env(const Suite& suite, int tasks, std::uint64_t seed);

}  // namespace agon::env
