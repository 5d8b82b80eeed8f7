#include "agents/learn/loop/decomposition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "agents/learn/data/train_rollout.h"
#include "agents/learn/loop/probes.h"
#include "agents/learn/network/checkpoint_weights.h"
#include "agents/learn/network/transformer_network.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::agents {
namespace {

bool begins_step(const CreditSegment& segment) {
  return segment.kind == env::SegmentKind::think || segment.kind == env::SegmentKind::step;
}

// The steps of each turn of a roll-out, in order, as queries to the suite.
std::vector<std::vector<env::StepQuery>> step_queries(const TrainRollout& rollout, const Tokenizer& tokenizer) {
  std::vector<std::vector<env::StepQuery>> turns(rollout.turn_begins.size());
  const auto text = [&](int begin, int end) {
    return tokenizer.decode(
        std::span(rollout.response.ids).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        true, TextPlace::within);
  };
  int at = 0;
  for (const CreditSegment& segment : rollout.segments) {
    const int begin = at;
    at += segment.tokens;
    const auto turn = static_cast<std::size_t>(segment.turn);
    if (begins_step(segment))
      turns[turn].push_back({text(rollout.turn_begins[turn], begin), std::string(trim(text(begin, at)))});
  }
  return turns;
}

// Whether each step is perception; nothing if the suite has no label.
std::vector<std::optional<bool>> labels_of(env::Env& env, const env::ResetOptions& reset,
                                           const record::Episode& episode, const TrainRollout& rollout,
                                           const Tokenizer& tokenizer) {
  std::vector<std::optional<bool>> labels;
  env.reset(reset);
  if (env.task().id != episode.task_id)
    throw Error("decompose: the env has task {} where the run has {}.", env.task().id, episode.task_id);
  const auto turns = step_queries(rollout, tokenizer);
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    for (const env::StepQuery& query : turns[turn]) {
      const auto label = env.check_step(query);
      labels.push_back(label ? std::optional(label->kind == env::StepKind::perception) : std::nullopt);
    }
    env.step({episode.turns[turn].text, {}});
  }
  return labels;
}

// PDCR's split called `name` for every step of every roll-out: true for visual.
std::vector<std::vector<bool>> split(const CreditGroup& group, Json settings, const char* name) {
  settings["split"] = name;
  const GroupCredit credit = make_credit("pdcr", settings)->assign(group);
  std::vector<std::vector<bool>> all;
  for (const Json& figures : credit.rollout_figures) {
    std::vector<bool>& own = all.emplace_back();
    for (const Json& cluster : figures.value("clusters", Json::array())) own.push_back(cluster == "visual");
  }
  return all;
}

// A task's steps, by roll-out.
using TaskSteps = std::vector<std::vector<SplitStep>>;

CreditGroup view_of(TransformerNetwork& model, const ModelFolder& folder, const TrainGroup& group,
                    const ProbeSettings& settings, const std::map<std::string, double>& rewards) {
  const std::vector<ProbeGroup> probes{make_probe_group(group, folder, settings)};
  const std::vector<StepProbes> found = probe_steps(model, probes).front();
  CreditGroup view = credit_group(group, rewards, *folder.tokenizer);
  for (std::size_t i = 0; i < view.size(); ++i) {
    view[i].step_confidence = found[i].confidence;
    view[i].step_visual = found[i].visual;
  }
  return view;
}

void probe_picture(TransformerNetwork& model, const TrainGroup& group, const ModelFolder& folder, PictureChange picture,
                   const DecompositionOptions& options, TaskSteps& steps) {
  const CreditGroup view = view_of(model, folder, group, {options.suffix, true, picture, options.seed}, {});
  const auto otsu = split(view, options.settings, "otsu"), top_k = split(view, options.settings, "top_k"),
             random = split(view, options.settings, "random");
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t k = 0; k < steps[i].size(); ++k) {
      SplitStep& step = steps[i][k];
      step.visual.push_back(view[i].step_visual[k]);
      step.otsu.push_back(otsu[i][k]);
      step.top_k.push_back(top_k[i][k]);
      step.random = random[i][k];
    }
}

std::vector<SplitStep> steps_of_task(TransformerNetwork& model, const ModelFolder& folder, env::Env& env,
                                     const std::string& instructions, const PlayedTask& task, std::size_t number,
                                     const DecompositionOptions& options) {
  const TrainGroup group = make_train_group(task.episodes, instructions, folder);
  if (group.prompt.images.empty())
    throw Error("decompose: {} shows no picture. A split of visual and textual steps needs one.",
                group.episodes.front().task_id);
  std::vector<std::vector<std::optional<bool>>> labels;
  TaskSteps steps;
  for (std::size_t i = 0; i < group.episodes.size(); ++i) {
    labels.push_back(labels_of(env, task.reset, group.episodes[i], group.rollouts[i], *folder.tokenizer));
    steps.emplace_back(labels.back().size(), SplitStep{.task = number});
  }
  for (const PictureChange picture : options.pictures) probe_picture(model, group, folder, picture, options, steps);
  std::vector<SplitStep> labelled;
  for (std::size_t i = 0; i < steps.size(); ++i)
    for (std::size_t k = 0; k < steps[i].size(); ++k)
      if (labels[i][k]) {
        steps[i][k].perception = *labels[i][k];
        labelled.push_back(std::move(steps[i][k]));
      }
  return labelled;
}

}  // namespace

CreditGroup probed_group(const ModelFolder& folder, const TrainGroup& group, const ProbeSettings& settings,
                         const std::map<std::string, double>& rewards) {
  TransformerNetwork model(folder.config);
  load_weights(model, folder.path);
  return view_of(model, folder, group, settings, rewards);
}

std::vector<SplitStep> split_steps_of(const ModelFolder& folder, env::Env& env, const std::string& instructions,
                                      const std::vector<PlayedTask>& tasks, const DecompositionOptions& options,
                                      const std::function<bool()>& after_task) {
  TransformerNetwork model(folder.config);
  load_weights(model, folder.path);
  std::vector<SplitStep> all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto steps = steps_of_task(model, folder, env, instructions, tasks[i], i, options);
    std::move(steps.begin(), steps.end(), std::back_inserter(all));
    if (!after_task()) break;
  }
  return all;
}

}  // namespace agon::agents
