// tests/support/actor.h - a policy that answers with a function of the request and the number of the sample.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agents/policy.h"

namespace agon::test {

class Actor : public agents::Policy {
 public:
  using Says = std::function<std::string(const agents::CompletionRequest&, int)>;
  explicit Actor(Says says) : says_(std::move(says)) {}
  std::vector<agents::Completion> complete(std::span<const agents::CompletionRequest> requests) override {
    std::vector<agents::Completion> all;
    for (const agents::CompletionRequest& request : requests)
      for (int j = 0; j < request.n; ++j) {
        agents::Completion& one = all.emplace_back();
        one.text = says_(request, j);
        add_tokens(request, one);
      }
    return all;
  }
  std::vector<agents::TokenScores> score(std::span<const agents::ScoreRequest>) override { return {}; }
  agents::Capabilities capabilities() const override { return {"actor", false, false, false, 1 << 20}; }

 private:
  // Fills in the tokens of `one`, whose text is set.
  virtual void add_tokens(const agents::CompletionRequest&, agents::Completion& one) const {
    one.token_ids = {1, 2, 3};
  }
  Says says_;
};

}  // namespace agon::test
