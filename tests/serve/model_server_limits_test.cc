#include <httplib.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <thread>

#include "core/base64.h"
#include "core/file.h"
#include "fixtures/serving.h"
#include "serve/model_server.h"
#include "soon.h"
#include "temp_folder.h"
#include "wire/client.h"

using namespace agon;
using namespace agon::serve;
using namespace agon::test;
using Catch::Contains;

namespace {

// agon-tiny with an end-of-turn token that it never writes.
ServedModels endless() {
  static const TempFolder kFolder;
  static const auto kPolicy = [] {
    std::filesystem::copy(tiny(), kFolder / "endless");
    write_file_atomically((kFolder / "endless/generation_config.json").string(), R"({"eos_token_id": 591})");
    return std::make_shared<ServedPolicy>(kFolder / "endless", agents::EngineOptions{});
  }();
  return {.policy = kPolicy};
}
Json long_chat(bool streams, int n = 1) {
  return chat("Say something long.", {{"temperature", 1}, {"max_tokens", 1900}, {"n", n}, {"stream", streams}});
}

}  // namespace

TEST_CASE("bad requests are refused in OpenAI's form") {
  Serving serving;
  const std::string path = "/v1/chat/completions";
  CHECK(serving.refusal(path, "{")["code"] == "invalid_json");
  CHECK(serving.refusal(path, "")["code"] == "invalid_json");
  CHECK(serving.refusal(path, "[]")["code"] == "invalid_json");
  CHECK(serving.refusal(path, "{\"messages\": [{\"role\": \"user\", \"content\": \"\xff\xfe\"}]}")["code"] ==
        "invalid_json");
  CHECK(serving.refusal(path, std::string(100'000, '['))["code"] == "invalid_json");
  CHECK(serving.refusal(path, chat("x", {{"model", "gpt-9"}}).dump(), 404)["code"] == "model_not_found");
  CHECK(serving.refusal(path, chat("x", {{"model", 3}}).dump())["param"] == "model");
  CHECK(serving.refusal(path, R"({"messages": []})")["param"] == "messages");
  CHECK(serving.refusal(path, chat("x", {{"n", 1'000'000'000}}).dump())["param"] == "n");
  CHECK(serving.refusal(path, chat("x", {{"max_tokens", -1}}).dump())["param"] == "max_tokens");
  const Json huge = serving.refusal(path, chat("x", {{"max_tokens", 1'000'000'000}}).dump());
  CHECK(huge["code"] == "context_length_exceeded");
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "word ";
  const Json longer = serving.refusal(path, chat(words).dump());
  CHECK(longer["code"] == "context_length_exceeded");
  CHECK_THAT(longer["message"].get<std::string>(), Contains("2048 tokens") && Contains("prompt has"));
  const Json endless = serving.refusal(path, chat(std::string(10 << 20, 'a')).dump());
  CHECK(endless["code"] == "context_length_exceeded");
  CHECK_THAT(endless["message"].get<std::string>(), Contains("2048 tokens") && Contains("at least"));
  CHECK(serving.refusal("/tokenize", Json{{"prompt", std::string(2 << 20, 'a')}}.dump())["param"] == "prompt");
  CHECK(serving.refusal("/v1/completions", R"({"prompt": [999999]})")["param"] == "prompt");
  CHECK_THAT(serving.refusal("/v1/completions", R"({"prompt": [592]})")["message"].get<std::string>(),
             Contains("picture"));
  CHECK(serving.refusal("/v1/score", R"({"text_1": "a", "text_2": "b"})", 404)["code"] == "model_not_found");
  CHECK(serving.refusal("/detokenize", R"({"tokens": [-1]})")["param"] == "tokens");
  CHECK(serving.refusal("/detokenize", R"({"tokens": [100000]})")["param"] == "tokens");
  CHECK(serving.refusal("/tokenize", "{}")["param"] == "prompt");
  Json picture = chat("x");
  picture["messages"][0]["content"] = {{{"type", "image_url"}, {"image_url", {{"url", "http://127.0.0.1/x.png"}}}}};
  CHECK(serving.refusal(path, picture.dump())["code"] == "invalid_image");
  // A PNG of 100,000 x 100,000 pixels in a few bytes.
  std::vector<std::uint8_t> bomb = encode_image(Image(1, 1, {1, 2, 3}), ImageFormat::png);
  for (const std::size_t at : {16u, 20u}) bomb[at] = 0, bomb[at + 1] = 1, bomb[at + 2] = 0x86, bomb[at + 3] = 0xA0;
  picture["messages"][0]["content"][0]["image_url"]["url"] = "data:image/png;base64," + base64(bomb);
  CHECK(serving.refusal(path, picture.dump())["code"] == "invalid_image");
  CHECK(serving.refusal(path, std::string(30 << 20, ' '), 413)["code"] == "request_too_large");
  serving.answer(path, chat("still there"));
}

TEST_CASE("a client that goes frees its place") {
  Serving serving({.in_flight = 8}, endless());
  for (const bool streams : {true, false}) {
    CAPTURE(streams);
    auto client = std::make_unique<WireClient>(serving.server.port());
    client->say(posted("/v1/chat/completions", long_chat(streams, 4)));
    if (streams) CHECK_THAT(client->hear("\"content\""), Contains("200 OK") && Contains("chat.completion.chunk"));
    CHECK(comes_soon([&] { return serving.metric("agon_batch_sequences") > 0; }));
    const double before = serving.metric("agon_cancelled_requests_total");
    client.reset();
    CHECK(comes_soon([&] { return serving.metric("agon_cancelled_requests_total") == before + 1; }));
    for (const char* left : {"agon_batch_sequences", "agon_requests_running"})
      CHECK(comes_soon([&] { return serving.metric(left) == 0; }));
  }
}

TEST_CASE("a request that is not answered before the deadline gets 504") {
  Serving serving({.deadline = 0.05}, endless());
  const Json error = serving.refusal("/v1/chat/completions", long_chat(false, 8).dump(), 504);
  CHECK(error["code"] == "deadline_exceeded");
  CHECK(comes_soon([&] { return serving.metric("agon_batch_sequences") == 0; }));
  const auto streamed = serving.client.Post("/v1/chat/completions", long_chat(true, 8).dump(), "application/json");
  REQUIRE(streamed);
  CHECK_THAT(streamed->body, Contains("deadline_exceeded"));
}

TEST_CASE("requests that find the queue full get 429") {
  Serving serving({.in_flight = 1, .queue = 1}, endless());
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<WireClient>(serving.server.port()));
    clients.back()->say(posted("/v1/chat/completions", long_chat(false)));
    const char* const counted = i == 0 ? "agon_requests_running" : "agon_requests_waiting";
    CHECK(comes_soon([&] { return serving.metric(counted) > 0; }));
  }
  const auto reply = serving.client.Post("/v1/chat/completions", chat("x").dump(), "application/json");
  REQUIRE(reply);
  CHECK(reply->status == 429);
  CHECK(reply->get_header_value("Retry-After") == "1");
  CHECK(Json::parse(reply->body)["error"]["code"] == "rate_limit_exceeded");
  clients.clear();
  CHECK(comes_soon(
      [&] { return serving.metric("agon_requests_running") + serving.metric("agon_requests_waiting") == 0; }));
  serving.answer("/v1/chat/completions", chat("x"));
}

TEST_CASE("a thousand silent connections do not keep others out") {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 4000) {
    WARN("too few open files are allowed");
    return;
  }
  limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, 4000);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  Serving serving;
  std::vector<std::unique_ptr<WireClient>> silent;
  for (int i = 0; i < 1000; ++i) silent.push_back(std::make_unique<WireClient>(serving.server.port()));
  const auto start = Clock::now();
  int status = 0;
  while (status != 200 && seconds_since(start) < kSoon) {
    httplib::Client fresh("127.0.0.1", serving.server.port());
    const auto reply = fresh.Post("/v1/chat/completions", chat("hello").dump(), "application/json");
    status = reply ? reply->status : 0;
  }
  CHECK(status == 200);
}

TEST_CASE("beyond this machine a key is needed") {
  CHECK_THROWS_WITH(ModelServer({.policy = tiny_policy()}, {.host = "0.0.0.0", .port = 0}), Contains("AGON_API_KEY"));
  CHECK_THROWS_WITH(ModelServer({.policy = tiny_policy()}, {.host = "::", .port = 0}), Contains("AGON_API_KEY"));
  Serving serving({.host = "0.0.0.0", .key = "secret"});
  const std::string body = chat("x").dump();
  const auto status = [&](const httplib::Headers& headers) {
    httplib::Client fresh("127.0.0.1", serving.server.port());
    const auto reply = fresh.Post("/v1/chat/completions", headers, body, "application/json");
    REQUIRE(reply);
    if (reply->status == 401) CHECK(Json::parse(reply->body)["error"]["code"] == "invalid_api_key");
    return reply->status;
  };
  CHECK(status({}) == 401);
  CHECK(status({{"Authorization", "Bearer wrong"}}) == 401);
  CHECK(status({{"Authorization", "Bearer secretx"}}) == 401);
  CHECK(status({{"Authorization", "Bearer "}}) == 401);
  CHECK(status({{"Authorization", "secret"}}) == 401);
  CHECK(status({{"Authorization", "Bearer secret"}}) == 200);
  CHECK(status({{"Authorization", "bearer secret"}}) == 200);
  CHECK(httplib::Client("127.0.0.1", serving.server.port()).Get("/health")->status == 200);
  CHECK(httplib::Client("127.0.0.1", serving.server.port()).Get("/v1/models")->status == 401);
}

TEST_CASE("a stop lets a stream end") {
  auto serving = std::make_unique<Serving>();
  const WireClient client(serving->server.port());
  client.say(posted("/v1/chat/completions",
                    chat("Say something.", {{"temperature", 100}, {"max_tokens", 150}, {"stream", true}})));
  std::string heard = client.hear("\"content\"");
  serving->stop = true;
  heard += client.hear("[DONE]");
  CHECK_THAT(heard, Contains("finish_reason\":\"") && Contains("[DONE]"));
  const auto start = Clock::now();
  serving.reset();
  CHECK(seconds_since(start) < kSoon);
}

TEST_CASE("a stop ends what does not end in time") {
  ModelServerOptions options;
  options.limits.stop_seconds = 0.2;
  auto serving = std::make_unique<Serving>(options, endless());
  const WireClient whole(serving->server.port()), stream(serving->server.port());
  whole.say(posted("/v1/chat/completions", long_chat(false, 64)));
  stream.say(posted("/v1/chat/completions", long_chat(true, 4)));
  const auto begun = Clock::now();
  const std::string beginning = stream.hear("\"content\"");
  CHECK(comes_soon([&] { return serving->metric("agon_batch_sequences") >= 5; }));
  serving.reset();
  CHECK(seconds_since(begun) < kSoon);
  CHECK_THAT(whole.hear(), Contains(" 503 ") || Contains("|closed"));
  // The stream either reports the end or breaks off.
  const std::string end = stream.hear();
  CHECK_THAT(end, (Contains("was stopped") && Contains("[DONE]")) || !Contains("\r\n0\r\n\r\n"));
}

TEST_CASE("log-probabilities that one answer cannot hold are refused before they are computed") {
  ModelServerOptions options;
  options.limits.most_held_bytes = 8 << 20;
  Serving serving(options);
  const Json few = serving.answer("/v1/completions", {{"prompt", "a b"}, {"max_tokens", 2}, {"prompt_logprobs", 20}});
  CHECK(few["choices"][0]["prompt_logprobs"].is_array());
  Json many{{"max_tokens", 1}, {"prompt_logprobs", 20}, {"prompt", Json::array()}};
  for (int i = 0; i < 20; ++i) many["prompt"].push_back(std::vector<int>(1000, 5 + i));
  CHECK(serving.refusal("/v1/completions", many.dump())["param"] == "logprobs");
  CHECK(serving.refusal(
            "/v1/chat/completions",
            chat("x", {{"n", 128}, {"max_tokens", 1000}, {"logprobs", true}, {"top_logprobs", 20}}).dump())["param"] ==
        "logprobs");
}

TEST_CASE("64 clients at a time are all answered") {
  Serving serving;
  std::atomic<int> right = 0;
  const std::string alone =
      serving.answer("/v1/chat/completions", chat("Question 7"))["choices"][0]["message"]["content"];
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 64; ++i)
      clients.emplace_back([&, i] {
        httplib::Client client("127.0.0.1", serving.server.port());
        client.set_read_timeout(60);
        const auto reply =
            client.Post("/v1/chat/completions", chat("Question " + std::to_string(i)).dump(), "application/json");
        if (!reply || reply->status != 200) return;
        const std::string text = Json::parse(reply->body)["choices"][0]["message"]["content"];
        if (i != 7 || text == alone) ++right;
      });
  }
  CHECK(right == 64);
}
