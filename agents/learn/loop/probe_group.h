// agents/learn/loop/probe_group.h - a group of roll-outs as what the policy is asked about its steps
// (agents/learn/loop/probes.h): tokens of responses, steps and the gold answer, and changed pictures. No LibTorch here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/hub/image_processor.h"
#include "agents/hub/prompt.h"
#include "agents/learn/data/picture_change.h"

namespace agon::agents {

struct TrainGroup;
struct ModelFolder;

using PatchedImages = std::vector<std::shared_ptr<const PatchedImage>>;

struct ProbedStep {
  int begin = 0, end = 0;            // tokens of the response
  std::vector<std::int32_t> suffix;  // what is written between the step and the answer
};
struct ProbedRollout {
  EncodedPrompt response;
  PatchedImages changed_images;   // of the response's later turns
  std::vector<ProbedStep> steps;  // in order, apart
};
struct ProbeGroup {
  EncodedPrompt prompt;
  PatchedImages changed_images;      // in place of the prompt's; the same numbers of tokens
  std::vector<std::int32_t> suffix;  // before any step
  std::vector<std::int32_t> answer;  // gold; these tokens alone are scored
  std::vector<ProbedRollout> rollouts;
};

struct ProbeSettings {
  std::string suffix = "<answer>";  // a <think> that is open after the step is closed before it
  bool visual = true;
  PictureChange change = PictureChange::white;
  std::uint64_t seed = 0;  // of the noise
};

// Steps are the segments of kind think and step, as credit counts them; the answer is the episodes' gold: a text, a
// number, or a box of four numbers. Throws Error for gold of another form, or without a token.
ProbeGroup make_probe_group(const TrainGroup& group, const ModelFolder& folder, const ProbeSettings& settings);

}  // namespace agon::agents
