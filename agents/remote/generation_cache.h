// agents/remote/generation_cache.h - what servers wrote, kept in an SQLite file by what they were asked: a run that
// goes on pays for nothing twice, and a recorded run replays without a network.
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

// $AGON_CACHE, else agon/ in $XDG_CACHE_HOME, else ~/.cache/agon.
std::filesystem::path generation_cache_file();

struct CachedModel {
  std::string model;
  std::int64_t generations = 0, prompt_tokens = 0, tokens = 0, bytes = 0;
  std::string last;  // when the last was recorded
};

// Thread-safe; several processes may share a file.
class GenerationCache {
 public:
  // Makes the file and its folder, unless it is only read. Throws Error for a file that is no such cache.
  explicit GenerationCache(const std::filesystem::path& file, bool read_only = false);
  ~GenerationCache();

  // Of one sample of a request: model, what shapes its answer at the endpoint (extra_body, reasoning), messages and
  // their pictures, the turn it continues, sampling, seed and the sample's number. Not the server's address.
  static std::string key_of(const Endpoint& endpoint, const std::string& model, const CompletionRequest& request,
                            int sample);
  std::optional<Completion> find(const std::string& key);
  // Keeps a completion, unless it is a failure. On the disk when this returns.
  void add(const std::string& key, const std::string& model, const Completion& completion);

  // What the probe found, for a replay without the server.
  std::optional<ServerTraits> traits_of(const Endpoint& endpoint);
  void keep_traits(const Endpoint& endpoint, const ServerTraits& traits);

  std::vector<CachedModel> models();
  std::int64_t remove(const std::string& model);  // its generations; how many there were

 private:
  struct Database;
  const std::unique_ptr<Database> database_;
};

}  // namespace agon::agents
