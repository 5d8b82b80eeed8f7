#include "agents/open_policy.h"

#include "agents/model_fingerprint.h"
#include "agents/remote/remote_policy.h"

namespace agon::agents {

std::string PolicySource::name() const { return endpoint ? endpoint->name() : folder.filename().string(); }

std::string PolicySource::fingerprint() const {
  return endpoint ? "served: " + endpoint->name() : model_fingerprint(folder);
}

bool PolicySource::operator==(const PolicySource& other) const {
  if (endpoint || other.endpoint)
    return endpoint && other.endpoint && endpoint->url == other.endpoint->url && name() == other.name();
  std::error_code ignored;
  return std::filesystem::equivalent(folder, other.folder, ignored);
}

PolicySource policy_source(const std::string& text) {
  if (names_endpoint(text)) return read_endpoint(text);
  return std::filesystem::path(text);
}

std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options) {
  if (!source.endpoint) return make_local_policy(source.folder, options);
  auto policy = std::make_unique<RemotePolicy>(*source.endpoint);
  if (source.endpoint->model.empty()) source.endpoint->model = policy->probed().traits.model;
  return policy;
}

}  // namespace agon::agents
