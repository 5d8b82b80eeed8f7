// agents/remote/remote_policy.h - the policy of a model behind a server.
//
//   samples     n answers of one request where the server makes many, else n requests.
//   stops       Left to the server where it says which stop string ended a text; else the answer is read as a stream
//               that agon ends at the stop string.
//   tokens      Counted by the server (usage), else with the endpoint's tokenizer; without either, the events of an
//               answer that agon ended.
//   cache       What was asked before is not asked again (agents/remote/generation_cache.h).
//   failures    A request that fails gives a Completion with `failure`; a server that is gone throws PolicyGone.
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

// What servers were asked to do, without what the cache gave back.
struct Paid {
  std::int64_t prompt_tokens = 0, completion_tokens = 0;
  double usd = 0;  // where the endpoint has a price
};

class RemotePolicy : public Policy {
 public:
  // Asks the server what it can do; a replay takes that from the cache. Throws Error where it does not answer, or the
  // cache has nothing of it.
  explicit RemotePolicy(const Endpoint& endpoint, net::QueueOptions options = {});  // their limits are the endpoint's

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
  std::string model_name() const;  // of the server, where it has no model's
  const Endpoint endpoint_;
  const std::unique_ptr<GenerationCache> cache_;  // null: off
  const std::unique_ptr<const PromptText> text_;  // null: the endpoint names no tokenizer
  ChatClient client_;
  const Probed probed_;
  PictureUrls pictures_;
  std::atomic<std::int64_t> prompt_tokens_ = 0, completion_tokens_ = 0;  // of paid()
};

// Nothing of a policy that is no server's.
Paid paid_by(const Policy& policy);

}  // namespace agon::agents
