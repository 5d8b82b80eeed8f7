// env/wrappers/role.h - what a policy is asked to do with a task of a one-turn suite. SuiteOptions::role names it.
//   solver    answers the task: the suite as it is.
//   refiner   sees the task, a first solution of it and the request to re-examine it, and answers the task.
//   verifier  sees the task and the same first solution, and says whether its answer is right:
//             <answer>yes</answer> or <answer>no</answer>.
//   critic    sees the task, the first steps of a solution, and says whether the last of them is right
//             (env/wrappers/critic_role.h).
//   sneaky    sees the same and a right step, and makes that wrong (env/wrappers/sneaky_role.h).
//
// Refiner and verifier: the first solution is the expert's or, with probability 1/2, Env::mistake. The task's id
// decides which one and how, so it is the same for both roles. An observation says nothing else about the gold answer.
//
// refiner: reward, success, gold, check_step and corrupt_step are the suite's. verifier: reward component "accuracy" is
// 1 for the right verdict, and the verdict is the gold; steps have no labels. Both have the suite's tasks and splits,
// with the role appended to the ids. info of the first observation and of the end: "first_correct": bool. info of the
// first observation: "first_solution": the solution that it shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/env.h"
#include "env/suite.h"

namespace agon::env {

inline constexpr const char* kSolver = "solver";
inline constexpr const char* kVerify = "Is the answer of this solution right? Answer yes or no.";

std::vector<std::string> role_names();
// `info` of a suite, for one of its roles. Throws Error for an unknown role (suggesting the nearest), and for another
// role than solver where the suite has several turns or no expert.
SuiteInfo role_info(SuiteInfo info, const std::string& role);
// reexamine: the request to a refiner; empty: kReexamine. REQUIRES: role_info accepts the suite of `solver` and `role`.
std::unique_ptr<Env> role_env(std::unique_ptr<Env> solver, const std::string& role, const std::string& reexamine = {});

}  // namespace agon::env
