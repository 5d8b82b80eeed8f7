// env/wrappers/critic_role.h - the critic role of SPC (arXiv 2504.19162), which judges whether the last step of a
// solution is right.
//
// A critic sees one request, made from the transcript before a turn, the turn's earlier steps, and the step to judge:
//   ## Problem            the transcript's first user message, with its pictures in place
//   ## Partial Solution   the earlier turns and the replies to them, then this turn's earlier steps; or kNothingYet
//   ## Last Step          the step
// It writes its thoughts, then <Answer>Correct</Answer> or <Answer>Incorrect</Answer>.
//
// When a suite is played in this role (env/wrappers/role.h), the solution is the expert's. The task's id decides which
// step of which turn is shown, and whether it is made wrong: with probability 1/2, by one kind of error, if any fits.
// Gold: the right verdict. Reward component "accuracy": 1 for the right verdict. info of the first observation:
// "step_source": "expert" or the kind of error; "step_kind"; "first_correct": the step is right. info of the end:
// "first_correct"; "invalid_verdict": why the reply has no verdict. The expert compares what the step should say with
// what it says (StepLabel::truth, claim), then gives the verdict.
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

// The request above with another heading for the step. Skips system messages. REQUIRES: the transcript holds a user
// message.
std::vector<Part> step_request(std::span<const Message> transcript, std::string_view before, std::string_view heading,
                               std::string_view step);
// step_request with the heading "Last Step".
std::vector<Part> critic_request(std::span<const Message> transcript, std::string_view before, std::string_view step);
// The critique of an expert who knows the truth: "red is 4 < 5", a blank line, the verdict. Between truth and claim it
// writes "=" for a right step, else "<" or ">" if the last number of truth is less or greater than claim, else "!=".
std::string expert_critique(std::string_view truth, std::string_view claim, bool correct);

// REQUIRES: the suite has an expert, and its check_step labels some of the expert's steps as right.
std::unique_ptr<Env> critic_env(std::unique_ptr<Env> solver);

}  // namespace agon::env
