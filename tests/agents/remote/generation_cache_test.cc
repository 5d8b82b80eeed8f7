#include "agents/remote/generation_cache.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <set>

#include "agents/remote/remote_policy.h"
#include "core/error.h"
#include "fake_chat.h"
#include "temp_folder.h"

using namespace agon;
using namespace agon::agents;
using namespace agon::test;
using Catch::Contains;

namespace {

// Sets AGON_CACHE to a temporary folder.
struct OwnCache {
  OwnCache() { ::setenv("AGON_CACHE", (folder / "cache/generations.sqlite").c_str(), 1); }
  ~OwnCache() { ::unsetenv("AGON_CACHE"); }
  TempFolder folder;
};

CompletionRequest sampling(std::uint64_t seed, double temperature = 1) {
  CompletionRequest request{{Message::of(Role::user, "Count.")}, {}, 2, {}};
  request.sampling.temperature = temperature;
  request.sampling.max_tokens = 64;
  request.sampling.seed = seed;
  return request;
}

std::vector<std::string> texts(RemotePolicy& policy, const CompletionRequest& request) {
  std::vector<std::string> all;
  for (const Completion& one : policy.complete(std::span(&request, 1))) all.push_back(one.text);
  return all;
}

Endpoint caching_endpoint(const std::string& url, CacheUse use) {
  Endpoint endpoint = read_endpoint(url);
  endpoint.cache = use;
  return endpoint;
}

}  // namespace

TEST_CASE("what was asked is not asked again, and replays without its server") {
  const OwnCache cache;
  auto server = std::make_unique<FakeChat>(like_vllm());
  const std::string url = server->url();
  RemotePolicy policy(caching_endpoint(url, CacheUse::record));
  const auto first = texts(policy, sampling(1));
  const std::vector<ScoreRequest> scored = {{sampling(1).messages, {}, 1.0, "banana"}};
  const std::vector<float> scores = policy.score(scored).at(0).logprobs;
  const int asked = server->server().requests();
  CHECK(texts(policy, sampling(1)) == first);
  CHECK(policy.score(scored).at(0).logprobs == scores);
  CHECK(server->server().requests() == asked);
  CHECK(texts(policy, sampling(2)) != first);
  CHECK(server->server().requests() == asked + 1);
  server.reset();

  RemotePolicy replay(caching_endpoint(url, CacheUse::replay));
  CHECK(replay.capabilities().max_context == 4096);
  CHECK(texts(replay, sampling(1)) == first);
  CHECK(replay.score(scored).at(0).logprobs == scores);
  CHECK_THROWS_WITH(texts(replay, sampling(3)), Contains("--cache replay") && Contains("Record"));
  const std::vector<ScoreRequest> other = {{sampling(1).messages, {}, 1.0, "cherry"}};
  CHECK_THROWS_WITH(replay.score(other), Contains("--cache replay"));
}

TEST_CASE("everything that shapes an answer is in its key; at temperature 0 the seed is not") {
  const Endpoint endpoint = read_endpoint("http://h/v1");
  const CompletionRequest base = sampling(1);
  const auto key = [&](const CompletionRequest& request, int sample = 0, const std::string& model = "m",
                       const Endpoint& server = read_endpoint("http://h/v1")) {
    return GenerationCache::key_of(server, model, request, sample);
  };
  std::vector<std::string> keys{key(base), key(base, 1), key(base, 0, "n")};
  const auto changed = [&](auto change) {
    CompletionRequest request = base;
    change(request);
    keys.push_back(key(request));
  };
  changed([](CompletionRequest& r) { r.prefix = "one"; });
  changed([](CompletionRequest& r) { r.messages[0].parts[0].text = "Count!"; });
  changed([](CompletionRequest& r) { r.messages[0].role = Role::system; });
  changed([](CompletionRequest& r) { r.messages[0].parts.push_back(Part::of(Image(1, 1, {1, 2, 3}))); });
  changed([](CompletionRequest& r) { r.messages[0].parts.push_back(Part::of(Image(1, 1, {1, 2, 4}))); });
  changed([](CompletionRequest& r) { r.sampling.seed = 2; });
  changed([](CompletionRequest& r) { r.sampling.temperature = 0.5; });
  changed([](CompletionRequest& r) { r.sampling.top_p = 0.5; });
  changed([](CompletionRequest& r) { r.sampling.top_k = 5; });
  changed([](CompletionRequest& r) { r.sampling.max_tokens = 5; });
  changed([](CompletionRequest& r) { r.sampling.stop = {"x"}; });
  Endpoint other = endpoint;
  other.extra_body = {{"min_p", 0.1}};
  keys.push_back(key(base, 0, "m", other));
  CHECK(std::set<std::string>(keys.begin(), keys.end()).size() == keys.size());
  CHECK(key(base, 0, "m", read_endpoint("http://elsewhere/v1")) == keys[0]);
  CHECK(key(sampling(1, 0)) == key(sampling(2, 0)));
}

TEST_CASE("a failure is not kept, and what is kept comes back whole") {
  const TempFolder folder;
  GenerationCache cache(folder / "c.sqlite");
  Completion completion;
  completion.failure = "a reset";
  cache.add("a", "m", completion);
  CHECK(!cache.find("a"));
  completion = {.text = "t\xC3\xA4\n",
                .counted_tokens = 3,
                .logprobs = {-1.5f, 0},
                .token_ends = {1, 4},
                .finish_reason = FinishReason::length,
                .matched_stop = "\n",
                .prompt_tokens = 7,
                .reasoning = "r"};
  cache.add("b", "m", completion);
  GenerationCache again(folder / "c.sqlite", true);
  const Completion kept = again.find("b").value();
  CHECK((kept.text == completion.text && kept.tokens() == 3 && kept.logprobs == completion.logprobs));
  CHECK((kept.token_ends == completion.token_ends && kept.finish_reason == FinishReason::length));
  CHECK((kept.matched_stop == "\n" && kept.prompt_tokens == 7 && kept.reasoning == "r"));
  CHECK(again.models().at(0).tokens == 3);
  CHECK(cache.remove("m") == 1);
  CHECK(cache.models().empty());
}

TEST_CASE("a file that is no cache is left as it is") {
  const TempFolder folder;
  std::ofstream(folder / "text") << std::string(4096, 'x');
  CHECK_THROWS_WITH(GenerationCache(folder / "text"), Contains("AGON_CACHE"));
  CHECK_THROWS_WITH(GenerationCache(folder / "absent", true), Contains("--cache record"));
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_WITH(GenerationCache(folder / "file" / "below"), Contains("AGON_CACHE"));
}
