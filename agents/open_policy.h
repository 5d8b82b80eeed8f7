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

// Options that open a model folder.
struct FolderChoices {
  WeightKind weights = WeightKind::automatic;
  kernels::KeyType keys = kernels::KeyType::f32;      // the type in which keys and values are stored
  std::string device = kCpuDevice;                    // one of agents/engine/open_backend.h
  std::optional<Resampler> resampler = std::nullopt;  // of pictures; nullopt: the one that the folder names
  bool operator==(const FolderChoices&) const = default;
};

// A policy as the user names it: either a model folder or a server (`endpoint`).
struct PolicySource {
  std::filesystem::path folder;
  FolderChoices choices;    // how the folder is opened
  std::int64_t memory = 0;  // bytes for weights, keys and values; 0: the machine's memory
  std::optional<Endpoint> endpoint;

  PolicySource(std::filesystem::path path, const FolderChoices& with = {})  // NOLINT: a folder is a source
      : folder(std::move(path)), choices(with) {}
  PolicySource(Endpoint server) : endpoint(std::move(server)) {}  // NOLINT
  // For tables and records: the folder's last path component, or the model's name (without one, the server's address).
  std::string name() const;
  // Differs if the weights may differ. A folder has its agents::model_fingerprint (an adapter: its own and its base's)
  // and its choices. A server has the name of its model, because it may move to another address.
  std::string fingerprint() const;
  bool operator==(const PolicySource& other) const;
  BackendOptions backend_options() const {
    return {choices.device, {choices.weights, choices.keys, memory}};
  }  // REQUIRES: a folder
};

// "models/x#q8#kv=bf16#cuda#torchvision" -> "models/x" and the four choices. Without such endings: the whole text and
// default choices. An ending that belongs to the name of an existing file or folder is no choice. Throws Error for two
// endings that contradict each other.
std::pair<std::string, FolderChoices> split_choices(const std::string& text);
// The source that a text names: a server (agents/remote/endpoint.h), or a folder with each of its choices after a '#'.
// The folder holds a model, or an adapter that names its base.
PolicySource policy_source(const std::string& text);

// Throws Error for a folder that cannot be loaded and for a server that does not answer. If a server was named without
// a model, source.endpoint->model is set to the one that it serves. `options` apply to a folder only; its backend and
// resampler are taken from `source` instead.
std::unique_ptr<Policy> open_policy(PolicySource& source, const LocalPolicyOptions& options = {});

}  // namespace agon::agents
