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
  int port = 8000;      // 0: any free port
  int in_flight = 64;   // requests answered at a time
  int queue = 256;      // requests that may wait; one more gets 429
  double deadline = 0;  // seconds that the policy has for a request from its arrival, then it gets 504. 0: no limit
  std::string key;      // bearer token that clients must send; empty: none
  std::size_t most_request_bytes = 16u << 20;
  net::HttpLimits limits{.most_held_bytes = 1u << 30, .stop_seconds = 30};
};

class ModelServer {
 public:
  // Starts to listen. Throws Error if other machines can reach the address and there is no key, and as net::HttpServer
  // does.
  ModelServer(ServedModels models, const ModelServerOptions& options);
  ~ModelServer();

  int port() const;
  // Answers until `stop` is set; requests in progress then have limits.stop_seconds to end. May be called once.
  void run(const std::atomic<bool>& stop);
  std::int64_t answered() const;  // number of requests so far

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::serve
