// agents/remote/generation_cache.h - caches the completions of servers by their requests in an SQLite file. A resumed
// run pays for nothing twice, and a recorded run can be replayed without a network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "agents/remote/endpoint.h"
#include "agents/remote/server_traits.h"

namespace agon::agents {

// $AGON_CACHE, else agon/generations.sqlite in $XDG_CACHE_HOME or ~/.cache.
std::filesystem::path generation_cache_file();

struct CachedModel {
  std::string model;
  std::int64_t generations = 0, prompt_tokens = 0, tokens = 0, bytes = 0;
  std::string last;  // time at which the last one was recorded
};

// Thread-safe; several processes may share a file.
class GenerationCache {
 public:
  // Creates the file and its folder unless read_only. Throws Error for a file that is not such a cache.
  explicit GenerationCache(const std::filesystem::path& file, bool read_only = false);
  ~GenerationCache();

  // The key of one sample of a request. It covers the model, the endpoint's extra_body and reasoning, the messages with
  // their pictures, the prefix, the sampling, and above temperature 0 the seed and the sample's number. It does not
  // cover the server's address.
  static std::string key_of(const Endpoint& endpoint, const std::string& model, const CompletionRequest& request,
                            int sample);
  std::optional<Completion> find(const std::string& key);
  // Stores a completion, unless it is a failure. It survives a crash of the process once this returns.
  void add(const std::string& key, const std::string& model, const Completion& completion);

  // The result of the probe, for a replay without the server.
  std::optional<ServerTraits> traits_of(const Endpoint& endpoint);
  void keep_traits(const Endpoint& endpoint, const ServerTraits& traits);

  std::vector<CachedModel> models();
  std::int64_t remove(const std::string& model);  // removes its generations and returns their number

 private:
  struct Database;
  const std::unique_ptr<Database> database_;
};

}  // namespace agon::agents
