#include "cli/model_folder.h"

#include <fmt/ranges.h>

#include <vector>

#include "agents/hub/gguf/model.h"
#include "agents/hub/hub_cache.h"
#include "agents/hub/peft_config.h"
#include "agents/learn/data/response_scorer.h"
#include "core/error.h"

namespace agon::cli {
namespace {

constexpr const char* kConfig = "config.json";
constexpr std::string_view kHub = "hf:";

bool holds(const std::filesystem::path& folder, const char* file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / file, ignored);
}

// A folder that comes with agon and holds `file`. flag: the option that names another one.
std::filesystem::path find_shipped(const char* name, const char* file, std::filesystem::path folder, const char* flag) {
  std::vector<std::filesystem::path> places;
  for (; !folder.empty(); folder = folder.parent_path()) {
    places.push_back(folder / name);
    if (folder == folder.root_path()) break;
  }
  places.push_back(std::filesystem::current_path() / name);
  std::vector<std::string> tried;
  for (const std::filesystem::path& place : places) {
    if (holds(place, file)) return place;
    tried.push_back(place.string());
  }
  throw Error("policy: the default model {} was not found. Tried {}. Give a folder with {}.", name,
              fmt::join(tried, ", "), flag);
}

// The folder without a trailing slash, so that its last part is its name.
std::filesystem::path named(const std::filesystem::path& folder) {
  const std::filesystem::path plain = folder.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

// The folder of a model "hf:ORG/NAME" that agon pull has fetched.
std::filesystem::path find_fetched(const std::string& text) {
  const std::string name = text.substr(kHub.size());
  const auto cached = agents::find_cached(agents::parse_hub_name(name));
  if (!cached)
    throw Error("policy: {} is not in {}. Fetch it first: agon pull {}.", text, agents::hub_cache_folder().string(),
                name);
  return find_model_folder(cached->string());
}

}  // namespace

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

std::filesystem::path find_model_folder(const std::string& policy, const std::filesystem::path& program,
                                        const char* default_model) {
  if (policy.empty()) return find_shipped(default_model, kConfig, program, "--policy");
  if (policy.starts_with(kHub)) return find_fetched(policy);
  if (holds(policy, kConfig) || agents::find_gguf(policy)) return named(policy);
  if (agents::is_adapter_folder(policy))
    throw Error("policy: {} is a LoRA adapter, and a whole model is asked for. Give the folder of its base.", policy);
  throw Error(
      "policy: {} is not a model folder: it has no config.json. Give a folder in the format of the Hugging Face hub, a "
      "GGUF file, the folder of a LoRA adapter, or the address of a server, http://host:8000/v1.",
      policy);
}

agents::PolicySource find_policy(const std::string& policy, const char* default_model) {
  if (agents::names_endpoint(policy)) return agents::policy_source(policy);
  const auto [folder, choices] = agents::split_choices(policy);
  if (agents::is_adapter_folder(folder)) return {named(folder), choices};
  return {find_model_folder(folder, program_folder(), default_model), choices};
}

std::filesystem::path find_reward_model(const std::string& folder, const std::filesystem::path& program) {
  return folder.empty() ? find_shipped(kDefaultRewardModel, agents::kRewardModelFile, program, "--reward-model")
                        : std::filesystem::path(folder);
}

}  // namespace agon::cli
