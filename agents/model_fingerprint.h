// agents/model_fingerprint.h - what tells one model from another, where a run goes on or is asked again.
#pragma once

#include <filesystem>
#include <string>

namespace agon::agents {

// A hash of every file of a model folder that shapes what the policy writes: weights, configs, tokenizer, template; of
// a large file its size and both ends. Throws Error for a file that cannot be read.
std::string model_fingerprint(const std::filesystem::path& folder);

}  // namespace agon::agents
