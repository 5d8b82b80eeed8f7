#include "agents/open_policy.h"

#include <algorithm>

#include "agents/hub/peft_config.h"
#include "agents/model_fingerprint.h"
#include "agents/remote/remote_policy.h"

namespace agon::agents {
namespace {

// What stands behind the '#' of a folder, in the form that is read there; empty: the defaults.
std::string ending_of(WeightKind weights, const std::string& device) {
  std::string ending = weights == WeightKind::automatic ? "" : std::string(name_of(weights));
  if (device != kCpuDevice) ending += (ending.empty() ? "" : ",") + device;
  return ending;
}

// False: it is no such ending.
bool read_ending(const std::string& ending, NamedFolder& named) {
  for (std::size_t begin = 0; begin <= ending.size();) {
    const std::size_t end = std::min(ending.find(',', begin), ending.size());
    const std::string part = ending.substr(begin, end - begin);
    if (const auto kind = find_weight_kind(part))
      named.weights = *kind;
    else if (names_device(part))
      named.device = part;
    else
      return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::string PolicySource::name() const { return endpoint ? endpoint->name() : folder.filename().string(); }

std::string PolicySource::fingerprint() const {
  if (endpoint) return "served: " + endpoint->name();
  std::string files = model_fingerprint(folder);
  if (is_adapter_folder(folder)) files = fmt::format("{}+{}", files, model_fingerprint(base_of_adapter(folder)));
  const std::string ending = ending_of(weights, device);
  return ending.empty() ? files : fmt::format("{}#{}", files, ending);
}

bool PolicySource::operator==(const PolicySource& other) const {
  if (endpoint || other.endpoint)
    return endpoint && other.endpoint && endpoint->url == other.endpoint->url && name() == other.name();
  std::error_code ignored;
  return weights == other.weights && device == other.device &&
         std::filesystem::equivalent(folder, other.folder, ignored);
}

NamedFolder split_named_folder(const std::string& text) {
  const std::size_t mark = text.rfind('#');
  if (mark == std::string::npos) return {text};
  NamedFolder named{text.substr(0, mark)};
  return read_ending(text.substr(mark + 1), named) ? named : NamedFolder{text};
}

PolicySource policy_source(const std::string& text) {
  if (names_endpoint(text)) return read_endpoint(text);
  const NamedFolder named = split_named_folder(text);
  return {std::filesystem::path(named.folder), named.weights, named.device};
}

std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options) {
  if (!source.endpoint) {
    LocalPolicyOptions own = options;
    own.weights = source.weights;
    own.device = source.device;
    return make_local_policy(source.folder, own);
  }
  auto policy = std::make_unique<RemotePolicy>(*source.endpoint);
  if (source.endpoint->model.empty()) source.endpoint->model = policy->probed().traits.model;
  return policy;
}

}  // namespace agon::agents
