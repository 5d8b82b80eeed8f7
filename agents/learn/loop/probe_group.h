// agents/learn/loop/probe_group.h - a group of roll-outs in the form that probes need (agents/learn/loop/probes.h): the
// tokens of responses, steps and gold answer, and the changed pictures. No torch here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/hub/pictures/image_processor.h"
#include "agents/hub/prompt.h"
#include "agents/learn/data/picture_change.h"

namespace agon::agents {

struct TrainGroup;
struct ModelFolder;

using PatchedImages = std::vector<std::shared_ptr<const PatchedImage>>;

struct ProbedStep {
  int begin = 0, end = 0;            // tokens of the response
  std::vector<std::int32_t> suffix;  // tokens between the step and the answer
};
struct ProbedRollout {
  EncodedPrompt response;
  PatchedImages changed_images;   // changed pictures of the response's later turns
  std::vector<ProbedStep> steps;  // in order, disjoint
};
struct ProbeGroup {
  EncodedPrompt prompt;
  PatchedImages changed_images;      // replace the prompt's pictures; the same numbers of tokens
  std::vector<std::int32_t> suffix;  // between the prompt and the answer, for c_0
  std::vector<std::int32_t> answer;  // the gold answer; only these tokens are scored
  std::vector<ProbedRollout> rollouts;
};

struct ProbeSettings {
  // Written after each step; if a <think> is still open there, "</think>" is put before the suffix.
  std::string suffix = "<answer>";
  bool visual = true;
  PictureChange change = PictureChange::white;
  std::uint64_t seed = 0;  // for the noise
};

// Steps are the segments of kind think and step, as credit counts them; the answer is the episodes' gold: a text, a
// number, or a box of four numbers. Throws Error for gold of another form or without tokens.
ProbeGroup make_probe_group(const TrainGroup& group, const ModelFolder& folder, const ProbeSettings& settings);

}  // namespace agon::agents
