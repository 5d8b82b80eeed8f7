// env/wrappers/role.h - the roles that a policy can play in a suite: what it is asked to do with a task.
// SuiteOptions::role names one.
//   solver    answers the task: the suite as it is.
//   refiner   sees the task, a first solution of it and the request to re-examine it, and answers the task.
//   verifier  sees the task and the same first solution, and says whether its answer is right:
//             <answer>yes</answer> or <answer>no</answer>.
//   critic    sees the task and the first steps of a solution, and says whether the last of them is right
//             (env/wrappers/critic_role.h).
//   sneaky    sees the same, but the last step is right, and makes that step wrong (env/wrappers/sneaky_role.h).
//
// Refiner and verifier need a suite of one turn. The first solution is the expert's or, with probability 1/2,
// Env::mistake. The task's id alone decides it, so it is the same for both roles. An observation says nothing else
// about the gold answer.
//
// refiner: reward, success, gold, check_step and corrupt_step are the suite's. verifier: reward component "accuracy" is
// 1 for the right verdict, and the right verdict is the gold; steps have no labels. Both have the suite's tasks and
// splits, with the role appended to the ids. info of the first observation and of the end: "first_correct": bool, the
// first solution is right. info of the first observation: "first_solution": that solution.
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
// `info` of a suite, for one of its roles. Throws Error for an unknown role (suggesting the nearest), for refiner and
// verifier if the suite has several turns, and for any role but solver if it has no expert.
SuiteInfo role_info(SuiteInfo info, const std::string& role);
// reexamine: the request to a refiner; empty: kReexamine. REQUIRES: role_info accepts the suite of `solver` and `role`.
std::unique_ptr<Env> role_env(std::unique_ptr<Env> solver, const std::string& role, const std::string& reexamine = {});

}  // namespace agon::env
