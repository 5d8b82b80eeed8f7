// agents/open_policy.h - opens what a user names as a policy: a model folder or a server.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/engine/local_policy.h"
#include "agents/policy.h"
#include "agents/remote/endpoint.h"

namespace agon::agents {

// One of the two.
struct PolicySource {
  std::filesystem::path folder;
  WeightKind weights = WeightKind::automatic;     // of the folder
  kernels::KeyType keys = kernels::KeyType::f32;  // that its keys and values are kept in
  std::int64_t memory = 0;                        // bytes for weights, keys and values; 0: the machine's
  std::optional<Endpoint> endpoint;

  PolicySource(std::filesystem::path path, WeightKind kind = WeightKind::automatic)  // NOLINT: a folder is a source
      : folder(std::move(path)), weights(kind) {}
  PolicySource(Endpoint server) : endpoint(std::move(server)) {}  // NOLINT
  // For tables and records: the last part of the folder, or the model's name (the server's address, where it has none).
  std::string name() const;
  // Differs where the weights may differ: agents::model_fingerprint, of an adapter with its base's, or the name of the
  // model behind a server, which may move to another address.
  std::string fingerprint() const;
  bool operator==(const PolicySource& other) const;
  MemoryWish memory_wish() const { return {weights, keys, memory}; }
};

// "models/x#q8" -> "models/x" and q8; without such an ending the whole text, and automatic.
std::pair<std::string, WeightKind> split_weight_kind(const std::string& text);
// What the text names, without a default: a folder (of a model or of an adapter, which names its base) as it is, with
// the kind of its weights behind a '#', or a server (agents/remote/endpoint.h).
PolicySource policy_source(const std::string& text);

// Throws Error for a folder that cannot be loaded and for a server that does not answer. A server that was named
// without a model gets the one that it has as its model. `options` are of a folder.
std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options = {});

}  // namespace agon::agents
