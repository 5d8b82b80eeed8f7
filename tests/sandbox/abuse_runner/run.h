// tests/sandbox/abuse_runner/run.h - runs a case on a sandbox and compares the results with those that the case
// expects.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "tests/sandbox/abuse_runner/case.h"

namespace agon::sandbox::abuse {

// Returns the differences; empty: the case passed. Starts a sandbox for this case alone. slower: factor of the time
// limits.
std::vector<std::string> faults_of(const Case& abuse, const SandboxConfig& config, double slower);

}  // namespace agon::sandbox::abuse
