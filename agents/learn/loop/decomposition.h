// agents/learn/loop/decomposition.h - asks the policy of a model folder about the steps of recorded roll-outs, as pdcr
// and pacr do in training. No torch here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agents/hub/model_folder.h"
#include "agents/learn/credit/credit.h"
#include "agents/learn/data/picture_change.h"
#include "agents/learn/data/train_rollout.h"
#include "agents/learn/loop/probe_group.h"
#include "agents/learn/loop/split_agreement.h"
#include "env/env.h"
#include "record/episode.h"

namespace agon::agents {

// The roll-outs of one task, and how its env was reset.
struct PlayedTask {
  env::ResetOptions reset;
  std::vector<record::Episode> episodes;
};

struct DecompositionOptions {
  std::vector<PictureChange> pictures;
  Json settings = Json::object();  // of pdcr, beside its split: "otsu", "threshold", "visual_share", "seed"
  std::string suffix = "<answer>";
  std::uint64_t seed = 0;  // of the noise and the intervals
};

// The labelled steps of all tasks. Loads the folder's weights. Throws Error as make_probe_group and load_weights, and
// for episodes that do not fit the env or the folder. after_task: called once a task, for progress; false stops.
std::vector<SplitStep> split_steps_of(const ModelFolder& folder, env::Env& env, const std::string& instructions,
                                      const std::vector<PlayedTask>& tasks, const DecompositionOptions& options,
                                      const std::function<bool()>& after_task);

// A group of recorded roll-outs of one task as pdcr and pacr see it: step_confidence, and step_visual against the
// changed picture where the group shows one. Loads the folder's weights. Throws Error as make_probe_group and
// load_weights.
CreditGroup probed_group(const ModelFolder& folder, const TrainGroup& group, const ProbeSettings& settings,
                         const std::map<std::string, double>& rewards);

}  // namespace agon::agents
