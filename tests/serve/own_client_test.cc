// agon as the client of agon: a policy behind the server has the abilities and the texts of the same policy in this
// process.
#include <catch2/catch.hpp>
#include <thread>

#include "agents/engine/local_policy.h"
#include "agents/remote/remote_policy.h"
#include "env/suite.h"
#include "paths.h"
#include "serve/model_server.h"

using namespace agon;
using namespace agon::serve;

namespace {

struct StopAtEnd {
  ~StopAtEnd() { stop = true; }
  std::atomic<bool>& stop;
};

}  // namespace

TEST_CASE("agon's own client finds everything that it asks of a server, and the same answers") {
  const std::filesystem::path folder = test::source_path("models/agon-tiny");
  ModelServer server({.policy = std::make_shared<ServedPolicy>(folder, agents::EngineOptions{})}, {.port = 0});
  std::atomic<bool> stop = false;
  const std::jthread running([&] { server.run(stop); });
  const StopAtEnd stops{stop};
  {
    agents::Endpoint endpoint;
    endpoint.url = fmt::format("http://127.0.0.1:{}/v1", server.port());
    endpoint.cache = agents::CacheUse::off;
    agents::RemotePolicy there(endpoint);
    const agents::ServerTraits& traits = there.probed().traits;
    CHECK(traits.model == "agon-tiny");
    CHECK(traits.context == 2048);
    CHECK((traits.samples && traits.seeds && traits.many && traits.logprobs && traits.token_ids && traits.images));
    CHECK((traits.counts_tokens && traits.names_stop && traits.scores));
    CHECK(traits.continuing == agents::Continuing::message);
    const auto here = agents::make_local_policy(folder);
    const env::Suite suite("charts");
    const auto env = suite.make_env();
    std::vector<agents::CompletionRequest> requests;
    for (std::uint64_t task = 0; task < 6; ++task) {
      agents::CompletionRequest& request = requests.emplace_back();
      request.messages = {Message::of(Role::system, suite.info().instructions),
                          {Role::user, env->reset({env::Split::test, task, 0}).observation.parts, {}, {}}};
      request.sampling.temperature = 0;
      request.sampling.max_tokens = 150;
      request.sampling.logprobs = true;
      if (task % 2 == 1) request.sampling.stop = {"\n\n"};
    }
    const std::vector<agents::Completion> expected = here->complete(requests), got = there.complete(requests);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(got[i].failure.empty());
      CHECK(got[i].text == expected[i].text);
      CHECK(got[i].matched_stop == expected[i].matched_stop);
      CHECK(got[i].finish_reason == expected[i].finish_reason);
      CHECK(got[i].prompt_tokens == expected[i].prompt_tokens);
      CHECK(got[i].tokens() == expected[i].tokens());
    }
    std::vector<agents::ScoreRequest> verdicts;
    for (const agents::CompletionRequest& request : requests)
      verdicts.push_back({request.messages, {}, 1.0, "<answer>3</answer>"});
    const std::vector<agents::TokenScores> scores = here->score(verdicts), read = there.score(verdicts);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      REQUIRE(read[i].logprobs.size() == scores[i].logprobs.size());
      for (std::size_t j = 0; j < scores[i].logprobs.size(); ++j)
        CHECK(read[i].logprobs[j] == Approx(scores[i].logprobs[j]).margin(1e-4));
    }
  }
}
