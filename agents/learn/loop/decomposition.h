// agents/learn/loop/decomposition.h - how well PDCR's split of steps into visual and textual ones agrees with a suite's
// own labels, perception and reasoning (PDCR, Fig. 7 and section 17). Only steps that the suite labels count.
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
#include "agents/learn/loop/probes.h"
#include "agents/learn/network/qwen2_5_vl.h"
#include "core/estimate.h"
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

// A labelled step and what PDCR measured and decided.
struct SplitStep {
  std::size_t task = 0;
  bool perception = false;        // the suite's label
  std::vector<double> visual;     // V, by picture
  std::vector<bool> otsu, top_k;  // visual or not, by picture
  bool random = false;
};

// Throws Error as make_probe_group, and for episodes that do not fit the env or the folder. after_task: called once a
// task, for progress; false stops.
std::vector<SplitStep> split_steps_of(Qwen25VL& model, const ModelFolder& folder, env::Env& env,
                                      const std::string& instructions, const std::vector<PlayedTask>& tasks,
                                      const DecompositionOptions& options, const std::function<bool()>& after_task);

// A group of recorded roll-outs of one task as pdcr and pacr see it: step_confidence, and step_visual against the
// changed picture where the group shows one. Throws Error as make_probe_group.
CreditGroup probed_group(Qwen25VL& model, const ModelFolder& folder, const TrainGroup& group,
                         const ProbeSettings& settings, const std::map<std::string, double>& rewards);

// Shares of the steps; the interval is over their tasks (core/intervals.h).
struct SplitAgreement {
  Estimate accuracy;  // visual where the label is perception, textual where it is reasoning
  double visual_share = 0;
  double perception_found = 0, reasoning_found = 0;  // of the steps of that label
};
// visual: what a split says of a step.
SplitAgreement agreement(const std::vector<SplitStep>& steps, const std::function<bool(const SplitStep&)>& visual);

}  // namespace agon::agents
