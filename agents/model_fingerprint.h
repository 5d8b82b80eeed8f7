// agents/model_fingerprint.h - a hash that identifies a model, for resuming and replaying runs.
#pragma once

#include <filesystem>
#include <string>

namespace agon::agents {

// Hashes the files of a model folder, or a GGUF file with its mmproj, that shape what the policy writes: weights,
// configs, tokenizer, template. Of a large file only the size and both ends are hashed. Throws Error for a file that
// cannot be read.
std::string model_fingerprint(const std::filesystem::path& folder);

}  // namespace agon::agents
