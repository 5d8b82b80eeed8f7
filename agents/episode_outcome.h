// agents/episode_outcome.h - the part of an episode that a run's figures are computed from. It is small, so that the
// outcomes of a whole run fit in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "record/episode.h"

namespace agon::agents {

struct EpisodeOutcome {
  std::uint64_t task_index = 0;
  int sample = 0, level = 0;
  std::string kind;
  bool failed = false, success = false;
  double reward = 0;
  std::optional<double> score;
  std::optional<std::string> answer;
  Json grading;                    // StepFacts::grading of the last turn: how votes are compared
  bool answer_is_box = false;      // without a grading: the gold is a box and the answer parses as a box
  int steps = 0, right_steps = 0;  // turns with a step_correct, and turns where it is true
  std::vector<bool> turn_correct;  // StepFacts::turn_correct of the turns that have it; two-turn episodes have two
  std::int64_t prompt_tokens = 0;  // sum over all requests
  std::int64_t tokens = 0;
};
EpisodeOutcome outcome_of(const record::Episode& episode);

}  // namespace agon::agents
