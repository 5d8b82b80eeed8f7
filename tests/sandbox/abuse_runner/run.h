// tests/sandbox/abuse_runner/run.h - plays a case on a sandbox, and compares what comes of it with what the case says.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "tests/sandbox/abuse_runner/case.h"

namespace agon::sandbox::abuse {

// Starts a sandbox for the case alone. `slower`: how many times longer the limits of time are.
std::vector<std::string> faults_of(const Case& abuse, const SandboxConfig& config, double slower);

}  // namespace agon::sandbox::abuse
