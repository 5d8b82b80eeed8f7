// env/kit/image_repair.h - turns in which a policy names the defect of a picture and repairs it with code. The suites
// darkroom and mat_coding share them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/env.h"
#include "env/kit/baseline.h"
#include "env/kit/defects.h"
#include "env/kit/episode_tools.h"
#include "env/kit/tool_env.h"

namespace agon::env {

inline constexpr const char* kMendingInstructions =
    "Think in <think></think>. First name what is wrong with the picture, as in <problem>{'dark'}</problem>: "
    "rotation90, "
    "rotation180, dark, overexposure, blur, noise, crop or none. Then mend it: <code></code> with Python that reads "
    "path_to_input_image.jpg and writes path_to_output_image.jpg. Then <answer></answer>.";
inline constexpr const char* kMendingTurns =
    "<think>...</think>, then one of <problem>{'NAME', ...}</problem>, <code>PYTHON</code>, <answer>ANSWER</answer>.";

// The tool python, whose code draws the same random numbers each time the task is played; no tool in a baseline.
std::vector<std::shared_ptr<tools::Tool>> mending_tools(Baseline baseline, const std::string& task_id);
// Runs code. The result shows what it printed and the picture it made, or why it failed.
StepResult run_code(const ToolCall& call, EpisodeTools& tools);
// Tips for the defects that `problem` names, right or wrong. A refusal if it is absent or cannot be parsed.
StepResult answer_problem(const std::optional<std::string>& problem);
std::string tips_for(const Defects& defects);  // "<tips>...</tips>"

}  // namespace agon::env
