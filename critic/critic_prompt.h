// critic/critic_prompt.h - builds the prompt for a policy in the critic's role. "short" is in
// env/wrappers/critic_role.h, "long" in critic/prompts/long.txt.
#pragma once

#include <string>
#include <vector>

#include "core/message.h"
#include "critic/critic.h"

namespace agon::critic {

// The system message that --prompt names: "short" (what agon trains its critics with), "long" (thought, critique,
// conclusion, as in SPC; for a policy without such training), or a file of the user's own. Throws Error for an unknown
// name and for an empty file.
std::string critic_instructions(const std::string& prompt);

// The system message `instructions` (empty: "short") and the step in its context (env/wrappers/critic_role.h).
std::vector<Message> critic_messages(const StepInContext& step, const std::string& instructions);

}  // namespace agon::critic
