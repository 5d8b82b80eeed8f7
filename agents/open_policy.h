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

// How a folder is opened.
struct FolderChoices {
  WeightKind weights = WeightKind::automatic;
  kernels::KeyType keys = kernels::KeyType::f32;      // that keys and values are kept in
  std::string device = kCpuDevice;                    // agents/engine/open_backend.h
  std::optional<Resampler> resampler = std::nullopt;  // of pictures; nothing: the one that the folder names
  bool operator==(const FolderChoices&) const = default;
};

// One of the two.
struct PolicySource {
  std::filesystem::path folder;
  FolderChoices choices;    // of the folder
  std::int64_t memory = 0;  // bytes for its weights, keys and values; 0: the machine's
  std::optional<Endpoint> endpoint;

  PolicySource(std::filesystem::path path, const FolderChoices& with = {})  // NOLINT: a folder is a source
      : folder(std::move(path)), choices(with) {}
  PolicySource(Endpoint server) : endpoint(std::move(server)) {}  // NOLINT
  // For tables and records: the last part of the folder, or the model's name (the server's address, where it has none).
  std::string name() const;
  // Differs where the weights may differ: agents::model_fingerprint, of an adapter with its base's, or the name of the
  // model behind a server, which may move to another address.
  std::string fingerprint() const;
  bool operator==(const PolicySource& other) const;
  BackendOptions backend_options() const {
    return {choices.device, {choices.weights, choices.keys, memory}};
  }  // of a folder
};

// "models/x#q8#kv=bf16#cuda#torchvision" -> "models/x" and these; without such endings the whole text, and none.
// Throws Error for two endings that contradict each other.
std::pair<std::string, FolderChoices> split_choices(const std::string& text);
// What the text names, without a default: a folder (of a model or of an adapter, which names its base) as it is, with
// its choices behind a '#' each, or a server (agents/remote/endpoint.h).
PolicySource policy_source(const std::string& text);

// Throws Error for a folder that cannot be loaded and for a server that does not answer. A server that was named
// without a model gets the one that it has as its model. `options` are of a folder, whose source has the
// choices.
std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options = {});

}  // namespace agon::agents
