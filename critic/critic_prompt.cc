#include "critic/critic_prompt.h"

#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "env/wrappers/critic_role.h"

namespace agon::critic {

extern const char* const kLongInstructions;  // critic/prompts/long.txt, with a newline at its end

std::string critic_instructions(const std::string& prompt) {
  if (prompt == "short") return env::kCriticInstructions;
  if (prompt == "long") return kLongInstructions;
  if (!std::filesystem::is_regular_file(prompt))
    throw Error("critic: unknown prompt '{}'. Give short, long, or a text file of your own.", prompt);
  const std::string text(trim(read_file(prompt)));
  if (text.empty()) throw Error("critic: prompt {} is empty.", prompt);
  return text;
}

std::vector<Message> critic_messages(const StepInContext& step, const std::string& instructions) {
  return {Message::of(Role::system, instructions.empty() ? env::kCriticInstructions : instructions),
          {Role::user, env::critic_request(step.messages, step.before, step.step), {}, {}}};
}

}  // namespace agon::critic
