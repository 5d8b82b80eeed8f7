// env/wrappers/sneaky_role.h - the role sneaky of SPC (arXiv 2504.19162): make a right step of this solution wrong, so
// that a critic does not notice.
//
// It sees the problem and the solution so far as a critic does (env/wrappers/critic_role.h), then "## Correct Step",
// and writes
//   <type>KIND</type>       one of the kinds of error, by its name
//   EXPLANATION             what it changes and why; free text
//   <step>STEP</step>       the step made wrong
//
// As a role of a suite, the solution is the expert's. The task's id decides which step of which turn is shown, among
// those that can be made wrong. Reward component "accuracy": 1 for a step that the suite knows to be wrong. What
// solvers and critics make of it is decided by the games (critic/self_play/game.h). info at the end: "success";
// "sneaky_type" and "sneaky_step", or "invalid_sneaky": what is wrong with what it wrote. The expert makes the step
// wrong as the suite does.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "env/env.h"

namespace agon::env {

inline constexpr std::string_view kSneaky = "sneaky";
inline constexpr const char* kSneakyInstructions =
    "Make the step wrong. Write <type>...</type>, what you change, then <step>...</step>.";

struct SneakyStep {
  ErrorKind kind = ErrorKind::calculation;
  std::string explanation, step;
  std::string fault;  // what is wrong with the text; then nothing else holds
};
// Between the first <type> and the first </type> behind it a kind of error, between the last <step> and the first
// </step> behind it a step of one paragraph, both trimmed; the explanation is what stands between the two, trimmed.
SneakyStep parse_sneaky(std::string_view text);
std::string sneaky_text(ErrorKind kind, std::string_view explanation, std::string_view step);

// REQUIRES: a suite with an expert, whose corrupt_step makes steps of it wrong.
std::unique_ptr<Env> sneaky_env(std::unique_ptr<Env> solver);

}  // namespace agon::env
