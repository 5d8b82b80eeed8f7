// agents/engine/local_policy.h - the policy of a model on this machine: agents/policy.h implemented by the engine
// (agents/engine/engine.h).
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/patched_pictures.h"
#include "agents/policy.h"

namespace agon::agents {

struct LocalPolicyOptions {
  int max_batch = 512;  // sequences decoded together
  int threads = 0;      // compute threads; 0: the machine's cores. No influence on any result.
  WeightKind weights = WeightKind::automatic;
};

class LocalPolicy : public Policy {
 public:
  LocalPolicy(ModelFolder folder, EngineWeights weights, const LocalPolicyOptions& options);

  std::vector<Completion> complete(std::span<const CompletionRequest> requests) override;
  std::vector<TokenScores> score(std::span<const ScoreRequest> requests) override;
  Capabilities capabilities() const override;
  // As Engine::set_weights, for a policy under training.
  void set_weights(EngineWeights weights) { engine_.set_weights(std::move(weights)); }

 private:
  class Prompts;
  const ModelFolder folder_;
  PatchedPictures pictures_;
  Engine engine_;
};

// Throws Error for a folder that cannot be loaded.
std::unique_ptr<Policy> make_local_policy(const std::filesystem::path& folder, const LocalPolicyOptions& options = {});

}  // namespace agon::agents
