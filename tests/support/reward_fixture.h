// tests/support/reward_fixture.h - what reward models of tests are made on, and what they are asked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/message.h"
#include "paths.h"

namespace agon::test {

inline const std::filesystem::path kRewardBase = golden_path("generation/model");

inline std::vector<Message> reward_question(const std::string& text = "Which one?") {
  return {Message::of(Role::user, text)};
}

}  // namespace agon::test
