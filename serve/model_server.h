// serve/model_server.h - agon as a server: a policy behind OpenAI's endpoints, a reward model behind vLLM's, a critic,
// and a search index, on one port.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "critic/critic.h"
#include "critic/reward_model/reward_model.h"
#include "net/http_server.h"
#include "serve/served_policy.h"
#include "tools/search/search.h"

namespace agon::serve {

// What is served; any of them may be absent.
struct ServedModels {
  std::shared_ptr<ServedPolicy> policy;
  std::shared_ptr<critic::RewardModel> reward_model;
  std::string reward_model_name;
  std::shared_ptr<critic::StepCritic> critic;
  std::string critic_name;
  std::shared_ptr<tools::SearchBackend> search;
};

struct ModelServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;      // 0: any that is free
  int in_flight = 64;   // requests answered at a time
  int queue = 256;      // requests that wait for that; one more gets 429
  double deadline = 0;  // seconds from its arrival in which the policy answers a request; then it gets 504. 0: none
  std::string key;      // that clients send as bearer token; empty: they need none
  std::size_t most_request_bytes = 16u << 20;
  net::HttpLimits limits{.most_held_bytes = 1u << 30, .stop_seconds = 30};
};

class ModelServer {
 public:
  // Listens from here on. Throws Error for an address that other machines can reach where there is no key, and as
  // net::HttpServer does.
  ModelServer(ServedModels models, const ModelServerOptions& options);
  ~ModelServer();

  int port() const;
  // Answers until `stop` is set; requests under way then have limits.stop_seconds to end. To be called once.
  void run(const std::atomic<bool>& stop);
  std::int64_t answered() const;  // requests so far

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::serve
