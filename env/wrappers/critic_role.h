// env/wrappers/critic_role.h - the role critic of SPC (arXiv 2504.19162): is the last step of this solution right?
//
// From a transcript, what its last turn says before a step, and the step, a critic is shown:
//   ## Problem            the transcript's first user message, pictures where they stand
//   ## Partial Solution   the turns since then and their answers, then this turn's steps; or kNothingYet
//   ## Last Step          the step
// It writes its thoughts, then <Answer>Correct</Answer> or <Answer>Incorrect</Answer>.
//
// As a role of a suite (env/wrappers/role.h), the solution is the expert's. The task's id decides which step of which
// turn is shown, and whether it is right or made wrong by one kind of error (half and half, where a kind fits). Reward
// component "accuracy": 1 for the right verdict. Gold: the right verdict. info of the first observation: "step_source":
// "expert" or the kind of error; "step_kind"; "first_correct": the step is right. The expert compares what the step
// should say with what it says (StepLabel::truth, claim), then gives the verdict.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"
#include "env/env.h"

namespace agon::env {

inline constexpr std::string_view kCritic = "critic";
inline constexpr const char* kCriticInstructions =
    "Is the last step right? End with <Answer>Correct</Answer> or <Answer>Incorrect</Answer>.";
inline constexpr const char* kNothingYet = "Let's solve this problem.";

// System messages of the transcript are left out. REQUIRES: it holds a user message.
std::vector<Part> step_request(std::span<const Message> transcript, std::string_view before, std::string_view heading,
                               std::string_view step);
// With the heading "Last Step".
std::vector<Part> critic_request(std::span<const Message> transcript, std::string_view before, std::string_view step);
// What an expert writes who knows what holds: "red is 4 < 5", a blank line, the verdict. Between truth and claim stands
// "=" for a right step, else how the number that truth ends with stands to the claim, else "!=".
std::string expert_critique(std::string_view truth, std::string_view claim, bool correct);

// REQUIRES: a suite with an expert, whose check_step knows some of its expert's steps.
std::unique_ptr<Env> critic_env(std::unique_ptr<Env> solver);

}  // namespace agon::env
