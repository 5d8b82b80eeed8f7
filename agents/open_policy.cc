#include "agents/open_policy.h"

#include "agents/hub/peft_config.h"
#include "agents/model_fingerprint.h"
#include "agents/remote/remote_policy.h"

namespace agon::agents {

std::string PolicySource::name() const { return endpoint ? endpoint->name() : folder.filename().string(); }

std::string PolicySource::fingerprint() const {
  if (endpoint) return "served: " + endpoint->name();
  std::string files = model_fingerprint(folder);
  if (is_adapter_folder(folder)) files = fmt::format("{}+{}", files, model_fingerprint(base_of_adapter(folder)));
  if (weights != WeightKind::automatic) files += fmt::format("#{}", name_of(weights));
  if (keys != kernels::KeyType::f32) files += fmt::format("#kv={}", name_of(keys));
  return files;
}

bool PolicySource::operator==(const PolicySource& other) const {
  if (endpoint || other.endpoint)
    return endpoint && other.endpoint && endpoint->url == other.endpoint->url && name() == other.name();
  std::error_code ignored;
  return weights == other.weights && keys == other.keys && std::filesystem::equivalent(folder, other.folder, ignored);
}

std::pair<std::string, WeightKind> split_weight_kind(const std::string& text) {
  const std::size_t mark = text.rfind('#');
  if (mark != std::string::npos)
    if (const auto kind = find_weight_kind(std::string_view(text).substr(mark + 1)))
      return {text.substr(0, mark), *kind};
  return {text, WeightKind::automatic};
}

PolicySource policy_source(const std::string& text) {
  if (names_endpoint(text)) return read_endpoint(text);
  const auto [folder, kind] = split_weight_kind(text);
  return {std::filesystem::path(folder), kind};
}

std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options) {
  if (!source.endpoint) {
    LocalPolicyOptions own = options;
    own.weights = source.weights;
    own.keys = source.keys;
    own.memory = source.memory;
    return make_local_policy(source.folder, own);
  }
  auto policy = std::make_unique<RemotePolicy>(*source.endpoint);
  if (source.endpoint->model.empty()) source.endpoint->model = policy->probed().traits.model;
  return policy;
}

}  // namespace agon::agents
