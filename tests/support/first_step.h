// tests/support/first_step.h - a small training run of models/agon-tiny, and the parts of its first step: the groups
// with their credit, the loss and its gradient.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "agents/engine/local_policy.h"
#include "agents/learn/credit/credit.h"
#include "agents/learn/data/reward.h"
#include "agents/learn/data/task_source.h"
#include "agents/learn/loop/train.h"
#include "agents/learn/loop/train_model.h"
#include "core/error.h"
#include "paths.h"

namespace agon::test {

using namespace agon::agents;

inline const std::string kModel = source_path("models/agon-tiny");

// Six steps of charts and shapes with an evaluation of a few tasks; changes: KEY=VALUE.
inline TrainConfig config_with(const std::filesystem::path& output, std::vector<std::string> changes) {
  std::vector<std::string> all{
      "output=" + output.string(),
      "policy=" + kModel,
      "threads=1",
      "steps=6",
      "samples=4",
      "checkpoint_steps=2",
      "sources=[{suite: charts, level: 3, prompts: 3}, {suite: shapes, level: 3, prompts: 2}]"};
  if (std::ranges::find(changes, "evaluation.every=0") == changes.end())
    all.insert(all.end(), {"evaluation.tasks=4", "evaluation.samples=2", "evaluation.every=3"});
  all.insert(all.end(), changes.begin(), changes.end());
  return load_train_config({}, all);
}

// The groups of a config's first step with their credit, and the model that played them.
struct FirstStep {
  explicit FirstStep(TrainConfig config_given)
      : config(std::move(config_given)),
        folder(open_model_folder(config.policy)),
        model(config, folder),
        policy(folder, model.engine_weights(), {}) {
    std::vector<CreditGroup> views;
    for (std::size_t i = 0; i < config.sources.size(); ++i) {
      PlayedGroups played = TaskSource(config, i, folder).play(policy, config.sources[i].prompts, 0, nullptr);
      for (TrainGroup& group : played.groups) groups.push_back(std::move(group));
      if (played.failed > 0) throw Error("{} groups failed", played.failed);
    }
    for (const TrainGroup& group : groups) views.push_back(credit_group(group, config.rewards, *folder.tokenizer));
    const auto assigner = make_credit(config.method, config.credit);
    std::vector<GroupCredit> credits = assigner->assign_batch(views);
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].credit = std::move(credits[i]);
    clip = assigner->clip();
    imitates = assigner->imitates();
    for (const TrainGroup& group : groups) all.push_back(&group);
  }

  double loss() {
    reference = model.reference_logprobs(all);
    return model.accumulate(all, reference, clip, imitates).loss.loss;
  }

  TrainConfig config;
  ModelFolder folder;
  TrainModel model;
  LocalPolicy policy;
  std::vector<TrainGroup> groups;
  std::vector<const TrainGroup*> all;
  std::vector<std::vector<std::vector<float>>> reference;
  Clip clip;
  bool imitates = false;
};

inline void move_weights(TrainModel& model, const std::vector<at::Tensor>& direction, double factor) {
  const at::NoGradGuard no_grad;
  const auto weights = model.trained();
  for (std::size_t i = 0; i < weights.size(); ++i) at::Tensor(weights[i]).add_(direction[i], factor);
}

}  // namespace agon::test
