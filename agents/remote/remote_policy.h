// agents/remote/remote_policy.h - a policy (agents/policy.h) whose model runs on a server.
//
//   samples     One request for n answers if the server supports it, else n requests.
//   stops       Left to the server if it reports which stop string ended a text. Otherwise agon reads the answer as a
//               stream and ends it at the stop string.
//   tokens      Counted by the server (usage), else with the endpoint's tokenizer. Without either, agon counts the
//               tokens that have log-probabilities, and the stream events with text; the larger number counts.
//   cache       Cached requests are not sent again (agents/remote/generation_cache.h).
//   failures    A failed request gives a Completion with `failure`. PolicyGone is thrown if the server is gone.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "agents/policy.h"
#include "agents/remote/chat_client.h"
#include "agents/remote/chat_request.h"
#include "agents/remote/generation_cache.h"
#include "agents/remote/probe.h"

namespace agon::agents {

// Tokens that the server has processed and their cost, without completions from the cache.
struct Paid {
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  double usd = 0;  // 0 if the endpoint has no price
};

class RemotePolicy : public Policy {
 public:
  // Probes the server; a replay takes the result from the cache. Throws Error if the server does not answer, or if the
  // cache has no result for it.
  explicit RemotePolicy(const Endpoint& endpoint, net::QueueOptions options = {});  // its limits are the endpoint's

  std::vector<Completion> complete(std::span<const CompletionRequest> requests) override;
  std::vector<TokenScores> score(std::span<const ScoreRequest> requests) override;
  Capabilities capabilities() const override;

  const Probed& probed() const { return probed_; }
  net::QueueFigures figures() const { return client_.figures(); }
  Paid paid() const;  // thread-safe

 private:
  class Call;
  class ScoreCall;
  RequestParts parts();
  void count(std::int64_t prompt_tokens, std::int64_t completion_tokens);
  std::string model_name() const;  // without a model, the server's url
  const Endpoint endpoint_;
  const std::unique_ptr<GenerationCache> cache_;  // null: off
  const std::unique_ptr<const PromptText> text_;  // null: the endpoint names no tokenizer
  ChatClient client_;
  const Probed probed_;
  PictureUrls pictures_;
  std::atomic<std::int64_t> prompt_tokens_ = 0, completion_tokens_ = 0;  // of paid()
};

// All zero for a policy that is not a RemotePolicy.
Paid paid_by(const Policy& policy);

}  // namespace agon::agents
