// critic/critic_prompt.h - the prompt for a policy in the critic's role. The texts are the files of critic/prompts.
#pragma once

#include <string>
#include <vector>

#include "core/message.h"
#include "critic/critic.h"

namespace agon::critic {

// The system message that --prompt names: "short" (what agon trains its critics with), "long" (for a policy that was
// not: thought, critique, conclusion, as SPC has it), or a file of the user's own. Throws Error for neither, and
// for an empty file.
std::string critic_instructions(const std::string& prompt);

// That system message (empty: "short"), and the step where it stands (env/wrappers/critic_role.h).
std::vector<Message> critic_messages(const StepInContext& step, const std::string& instructions);

}  // namespace agon::critic
