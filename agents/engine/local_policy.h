// agents/engine/local_policy.h - a policy (agents/policy.h) whose model runs on this machine, in an engine
// (agents/engine/engine.h). Policies that are adapters of the same base share its engine.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/engine/engine.h"
#include "agents/engine/open_backend.h"
#include "agents/hub/model_folder.h"
#include "agents/hub/pictures/patched_pictures.h"
#include "agents/policy.h"

namespace agon::agents {

struct LocalPolicyOptions {
  int max_batch = 512;  // sequences decoded together
  int threads = 0;      // compute threads of agon's kernels; 0: the machine's cores. No influence on any result.
  BackendOptions backend;
  std::optional<Resampler> resampler = std::nullopt;  // of pictures; nullopt: the one that the folder names
};

// A loaded model with its engine.
struct LocalModel {
  LocalModel(ModelFolder parts, std::unique_ptr<ModelBackend> backend, const LocalPolicyOptions& options);
  const ModelFolder folder;
  PatchedPictures pictures;
  Engine engine;
};

class LocalPolicy : public Policy {
 public:
  LocalPolicy(ModelFolder folder, std::unique_ptr<ModelBackend> backend, const LocalPolicyOptions& options);
  LocalPolicy(ModelFolder folder, EngineWeights weights, const LocalPolicyOptions& options);  // on agon's kernels
  // adapter: an adapter of the model, or null.
  LocalPolicy(std::string name, std::shared_ptr<LocalModel> model, std::shared_ptr<const EngineAdapter> adapter);

  std::vector<Completion> complete(std::span<const CompletionRequest> requests) override;
  std::vector<TokenScores> score(std::span<const ScoreRequest> requests) override;
  Capabilities capabilities() const override;
  // As in Engine, for a policy in training. Both functions change every policy that shares the model.
  void set_weights(EngineWeights weights) { model_->engine.set_weights(std::move(weights)); }
  void change_weights(std::function<void(ModelBackend&)> change) { model_->engine.change_weights(std::move(change)); }
  const LocalModel& model() const { return *model_; }

 private:
  class Prompts;
  const std::string name_;
  const std::shared_ptr<LocalModel> model_;
  const std::shared_ptr<const EngineAdapter> adapter_;
};

// `folder`: a model folder, a GGUF file, or the folder of a LoRA adapter, which names its base
// (agents/hub/peft_config.h). Policies with the same base and options share one loaded model while any of them lives.
// Throws Error for a folder that cannot be loaded.
std::unique_ptr<LocalPolicy> make_local_policy(const std::filesystem::path& folder,
                                               const LocalPolicyOptions& options = {});

}  // namespace agon::agents
