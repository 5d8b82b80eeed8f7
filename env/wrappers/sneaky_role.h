// env/wrappers/sneaky_role.h - the sneaky role of SPC (arXiv 2504.19162), which makes a right step of a solution wrong
// so that a critic does not notice.
//
// It sees the problem and the solution so far as a critic does (env/wrappers/critic_role.h), then "## Correct Step",
// and writes
//   <type>KIND</type>       the name of a kind of error
//   EXPLANATION             what it changes and why; free text
//   <step>STEP</step>       the step made wrong
//
// When a suite is played in this role, the solution is the expert's. The task's id decides which step of which turn is
// shown, among those that can be made wrong. Reward component "accuracy": 1 for a step that the suite knows to be
// wrong. Whether the step misleads solvers and critics is decided by the games (critic/self_play/game.h). info at the
// end: "success"; "sneaky_type" and "sneaky_step", or "invalid_sneaky": what is wrong with the reply. The expert makes
// the step wrong as the suite does.
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
  std::string fault;  // what is wrong with the text; if set, ignore the rest
};
// Reads the kind of error between the first <type> and the next </type>, the step, of one paragraph, between the last
// <step> and the next </step>, and the explanation between the two tags. All are trimmed.
SneakyStep parse_sneaky(std::string_view text);
std::string sneaky_text(ErrorKind kind, std::string_view explanation, std::string_view step);

// REQUIRES: the suite has an expert, and its corrupt_step can make steps of the expert's solution wrong.
std::unique_ptr<Env> sneaky_env(std::unique_ptr<Env> solver);

}  // namespace agon::env
