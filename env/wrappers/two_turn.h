// env/wrappers/two_turn.h - a wrapper that lets a policy answer, re-examine its answer and answer again, as in AdaPO
// (arXiv 2508.09155, Eq. 1): a first answer y1 ~ pi(.|q), a prompt x to re-examine it, a second answer
// y2 ~ pi(.|q, y1, x). It wraps a suite of one turn; SuiteOptions::two_turn turns it on.
//
// Turn 1: the answer is graded in a fork, so the task stays open. The next observation is x alone, whatever the grade.
// The reward and each of its components are 0. Turn 2: the second answer ends the task, and its reward and success are
// the episode's. info of both turns: "turn_correct": bool, the answer of this turn is right; "turn_reward": its reward
// alone. An action that the suite refuses is refused here too and does not count as an answer. Everything else (tasks,
// their ids, check_step, corrupt_step) is the suite's own; the expert gives its answer twice.
//
// Suites of several turns cannot be wrapped: they grade a state that earlier turns have changed, not a text that a
// policy can write again.
#pragma once

#include <memory>
#include <string>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

// The prompt x of the paper.
inline constexpr const char* kReexamine =
    "There might be an error in the solution, please evaluate the previous solution and provide a final answer.";

// `info` of a suite, for its two-turn episodes. Throws Error for a suite of several turns.
SuiteInfo two_turn_info(SuiteInfo info);
// reexamine: x; empty: kReexamine. REQUIRES: every action that `answered_once` accepts ends its task.
std::unique_ptr<Env> two_turn_env(std::unique_ptr<Env> answered_once, std::string reexamine = {});

}  // namespace agon::env
