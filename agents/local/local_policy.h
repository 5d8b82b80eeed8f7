// agents/local/local_policy.h - the policy of a model folder on this machine: a continuous-batching engine behind
// agents/policy.h.
#pragma once

#include <filesystem>
#include <memory>

#include "agents/policy.h"

namespace agon::agents {

struct LocalPolicyOptions {
  int max_batch = 512;  // sequences decoded together
  int threads = 0;      // compute threads; 0: the machine's cores. No influence on any result.
};
// Throws Error for a folder that cannot be loaded.
std::unique_ptr<Policy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options = {});

}  // namespace agon::agents
