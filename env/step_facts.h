// env/step_facts.h - facts about a step that an Env knows but does not show to the policy, for figures, training and
// logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace agon::env {

// One attempt to call a tool.
struct ToolAttempt {
  std::string tool;
  Json arguments;
  std::string outcome;  // "ok", or the name of a tools::ToolFault
  double seconds = 0;   // the only field that may differ between identical replays
  std::int64_t bytes = 0;
};

// A field without a value is unknown to the suite or does not apply to this step.
struct StepFacts {
  std::optional<std::string> refused;   // why the action was refused
  std::optional<bool> success;          // at the end of an episode: its outcome counts as right
  std::optional<bool> step_correct;     // the action was a right next action
  std::optional<bool> turn_correct;     // this turn's own answer is right (env/wrappers/two_turn.h)
  std::optional<double> turn_reward;    // reward of this turn's own answer
  Json grading;                         // at the end of an episode: TaskInfo::grading
  std::vector<ToolAttempt> tool_calls;  // every attempt of this turn
  // The suite's own facts, by name: "objects": [{"name", "box": [x1,y1,x2,y2] pixels}] in the new picture;
  // "first_correct", "first_solution" of the solution shown (env/wrappers/role.h).
  Json info = Json::object();
};

// One JSON object: the entries of `info`, then each field that has a value, by name ("error" for `refused`).
Json to_json(const StepFacts& facts);
// The facts that to_json wrote. Never throws: entries of any other form stay in `info`.
StepFacts step_facts_of(Json json);

}  // namespace agon::env
