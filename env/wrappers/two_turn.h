// env/wrappers/two_turn.h - two-turn episodes (AdaPO, Eq. 1): a first answer y1 ~ pi(.|q), a prompt x to re-examine it, a second
// answer y2 ~ pi(.|q, y1, x). The wrapper around a suite of one turn; SuiteOptions::two_turn asks for it.
//
// Turn 1: the answer is graded in a fork, so the task stays open. What is shown next is x alone, whatever the grade.
// Its reward is 0, and so is each component of it. Turn 2: the second answer ends the task, and its reward and success
// are the episode's. info of both turns: "turn_correct": bool, the answer of this turn is right; "turn_reward": what it
// is worth by itself. An action that the suite refuses is refused here too and is no answer. Everything else (tasks,
// their ids, check_step, corrupt_step) is the suite's own; the expert gives its answer twice.
//
// A suite of several turns has none: what it grades is a state that the turns before have changed, not a text that can
// be written again.
#pragma once

#include <memory>
#include <string>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// x of the paper.
inline constexpr const char* kReexamine =
    "There might be an error in the solution, please evaluate the previous solution and provide a final answer.";

// `info` of a suite, for its two-turn episodes. Throws Error for a suite of several turns.
SuiteInfo two_turn_info(SuiteInfo info);
// reexamine: x; empty: kReexamine. REQUIRES: every action that `answered_once` accepts ends its task.
std::unique_ptr<Env> two_turn_env(std::unique_ptr<Env> answered_once, std::string reexamine = {});

}  // namespace agon::env
