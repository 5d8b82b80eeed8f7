// agents/learn/loop/decomposition.h - measures each step of recorded roll-outs as the methods pdcr and pacr do in
// training: confidence in the gold answer, and dependence on the picture. The policy comes from a model folder. No
// torch here.
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
  Json settings = Json::object();  // of pdcr, except "split": "otsu", "threshold", "visual_share", "seed"
  std::string suffix = "<answer>";
  std::uint64_t seed = 0;  // for the noise and the intervals
};

// The labelled steps of all tasks. Loads the folder's weights. Throws Error as make_probe_group and load_weights, and
// for episodes that do not fit the env or the folder. after_task: called after each task, for progress; false stops.
std::vector<SplitStep> split_steps_of(const ModelFolder& folder, env::Env& env, const std::string& instructions,
                                      const std::vector<PlayedTask>& tasks, const DecompositionOptions& options,
                                      const std::function<bool()>& after_task);

// A group of recorded roll-outs of one task in the form that pdcr and pacr need. It has step_confidence and, if the
// group shows a picture, step_visual, measured against the changed picture. Loads the folder's weights. Throws Error as
// make_probe_group and load_weights.
CreditGroup probed_group(const ModelFolder& folder, const TrainGroup& group, const ProbeSettings& settings,
                         const std::map<std::string, double>& rewards);

}  // namespace agon::agents
