#include "agents/open_policy.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "agents/hub/peft_config.h"
#include "agents/model_fingerprint.h"
#include "agents/remote/remote_policy.h"
#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::string_view kKeysBefore = "kv=";

std::optional<kernels::KeyType> read_key_type(std::string_view text) {
  return text.starts_with(kKeysBefore) ? find_key_type(text.substr(kKeysBefore.size())) : std::nullopt;
}

enum class Choice { none, weights, keys, resampler, device };

// Sets the option that `text` names and returns which one it is.
Choice read_choice(const std::string& text, FolderChoices& choices) {
  if (const auto kind = find_weight_kind(text)) return choices.weights = *kind, Choice::weights;
  if (const auto keys = read_key_type(text)) return choices.keys = *keys, Choice::keys;
  if (const auto resampler = find_resampler(text)) return choices.resampler = resampler, Choice::resampler;
  if (names_device(text)) return choices.device = text, Choice::device;
  return Choice::none;
}

}  // namespace

std::string PolicySource::name() const { return endpoint ? endpoint->name() : folder.filename().string(); }

std::string PolicySource::fingerprint() const {
  if (endpoint) return "served: " + endpoint->name();
  std::string files = model_fingerprint(folder);
  if (is_adapter_folder(folder)) files = fmt::format("{}+{}", files, model_fingerprint(base_of_adapter(folder)));
  if (choices.weights != WeightKind::automatic) files += fmt::format("#{}", name_of(choices.weights));
  if (choices.keys != kernels::KeyType::f32) files += fmt::format("#{}{}", kKeysBefore, name_of(choices.keys));
  if (choices.device != kCpuDevice) files += "#" + choices.device;
  if (choices.resampler) files += fmt::format("#{}", name_of(*choices.resampler));
  return files;
}

bool PolicySource::operator==(const PolicySource& other) const {
  if (endpoint || other.endpoint)
    return endpoint && other.endpoint && endpoint->url == other.endpoint->url && name() == other.name();
  std::error_code ignored;
  return choices == other.choices && std::filesystem::equivalent(folder, other.folder, ignored);
}

std::pair<std::string, FolderChoices> split_choices(const std::string& text) {
  std::pair<std::string, FolderChoices> result{text, {}};
  auto& [folder, choices] = result;
  std::map<Choice, std::string> seen;
  std::error_code ignored;
  for (std::size_t mark; (mark = folder.rfind('#')) != std::string::npos; folder.resize(mark)) {
    if (std::filesystem::exists(folder, ignored)) break;
    const std::string ending = folder.substr(mark + 1);
    const Choice choice = read_choice(ending, choices);
    if (choice == Choice::none) break;
    if (const std::string& later = seen.emplace(choice, ending).first->second; later != ending)
      throw Error("policy: {}: #{} and #{} contradict each other. Leave one of them out.", text, ending, later);
  }
  return result;
}

PolicySource policy_source(const std::string& text) {
  if (names_endpoint(text)) return read_endpoint(text);
  const auto [folder, choices] = split_choices(text);
  return {std::filesystem::path(folder), choices};
}

std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options) {
  if (!source.endpoint) {
    LocalPolicyOptions own = options;
    own.backend = source.backend_options();
    own.resampler = source.choices.resampler;
    return make_local_policy(source.folder, own);
  }
  auto policy = std::make_unique<RemotePolicy>(*source.endpoint);
  if (source.endpoint->model.empty()) source.endpoint->model = policy->probed().traits.model;
  return policy;
}

}  // namespace agon::agents
