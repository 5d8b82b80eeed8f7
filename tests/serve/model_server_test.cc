#include "serve/model_server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>

#include "agents/engine/local_policy.h"
#include "core/base64.h"
#include "core/error.h"
#include "core/file.h"
#include "core/text.h"
#include "env/suite.h"
#include "net/sse.h"
#include "paths.h"
#include "temp_folder.h"
#include "tools/search/index_builder.h"
#include "tools/search/search_index.h"

using namespace agon;
using namespace agon::serve;
using Catch::Contains;

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }
constexpr double kSoon = AGON_SANITIZED ? 60 : 10;  // seconds

const std::filesystem::path& tiny() {
  static const std::filesystem::path kFolder = test::source_path("models/agon-tiny");
  return kFolder;
}

std::shared_ptr<ServedPolicy> tiny_policy() {
  static const auto kPolicy = std::make_shared<ServedPolicy>(tiny(), agents::EngineOptions{});
  return kPolicy;
}

// The longer the better.
struct LengthModel : critic::RewardModel {
  std::vector<std::vector<double>> score(std::span<const critic::Candidates> sets) override {
    std::vector<std::vector<double>> all;
    for (const critic::Candidates& set : sets) {
      all.emplace_back();
      for (const std::string& response : set.responses) all.back().push_back(static_cast<double>(response.size()));
      passes += 1;
    }
    return all;
  }
  bool fits(const critic::Candidates&) const override { return true; }
  void require(const critic::Candidates& set) const override { tokens(set); }
  std::int64_t tokens(const critic::Candidates& set) const override {
    std::int64_t count = 1;
    for (const std::string& response : set.responses) {
      if (response.size() > 1000) throw Error("too long for the context");
      count += std::ssize(response);
    }
    return count;
  }
  double probability(double value) const override { return 1 / (1 + std::exp(-value)); }
  bool joint() const override { return false; }
  const Json& notes() const override { return notes_; }
  std::atomic<int> passes = 0;
  Json notes_;
};

// Serves as long as it lives.
struct Serving {
  explicit Serving(ModelServerOptions options = {}, ServedModels models = {.policy = tiny_policy()})
      : server(std::move(models), with_any_port(options)),
        thread([this] { server.run(stop); }),
        client("127.0.0.1", server.port()) {
    std::signal(SIGPIPE, SIG_IGN);
    client.set_read_timeout(60);
  }
  ~Serving() {
    stop = true;
    thread.join();
  }
  static ModelServerOptions with_any_port(ModelServerOptions options) {
    options.port = 0;
    return options;
  }
  std::pair<int, Json> post(const std::string& path, const std::string& body) {
    const auto reply = client.Post(path, body, "application/json");
    INFO(path << ": " << httplib::to_string(reply.error()));
    REQUIRE(reply);
    return {reply->status, Json::parse(reply->body)};
  }
  Json answer(const std::string& path, const Json& body) {
    const auto [status, json] = post(path, body.dump());
    INFO(json.dump());
    REQUIRE(status == 200);
    return json;
  }
  Json refusal(const std::string& path, const std::string& body, int status = 400) {
    const auto [got, json] = post(path, body);
    INFO(json.dump());
    CHECK(got == status);
    CHECK(json["error"]["message"].is_string());
    CHECK(json["error"]["type"].is_string());
    CHECK(json["error"].contains("code"));
    return json["error"];
  }
  double metric(const std::string& name) {
    const auto reply = client.Get("/metrics");
    REQUIRE(reply);
    const std::size_t at = reply->body.find("\n" + name + " ");
    REQUIRE(at != std::string::npos);
    return std::stod(reply->body.substr(at + name.size() + 2));
  }
  std::atomic<bool> stop = false;
  ModelServer server;
  std::thread thread;
  httplib::Client client;
};

Json chat(const std::string& text, Json more = Json::object()) {
  more["messages"] = Json::array({{{"role", "user"}, {"content", text}}});
  if (!more.contains("temperature")) more["temperature"] = 0;
  if (!more.contains("max_tokens")) more["max_tokens"] = 12;
  return more;
}

Json picture_part(const Image& picture) {
  const std::string url = "data:image/png;base64," + base64(encode_image(picture, ImageFormat::png));
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}

// The data of the events of a stream, which has to end with [DONE].
std::vector<Json> events_in(const std::string& body) {
  std::vector<std::string> data;
  net::EventStream stream;
  stream.feed(body, [&](std::string_view one) { data.emplace_back(one); });
  REQUIRE_FALSE(data.empty());
  CHECK(data.back() == "[DONE]");
  data.pop_back();
  std::vector<Json> events;
  for (const std::string& one : data) events.push_back(Json::parse(one));
  return events;
}

int connected(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}
void say(int fd, const std::string& text) {
  REQUIRE(::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text));
}
std::string hear(int fd, const std::string& end, double seconds = kSoon) {
  std::string heard;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds && heard.find(end) == std::string::npos) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, 50) <= 0) continue;
    char bytes[4096];
    const ssize_t size = ::recv(fd, bytes, sizeof bytes, 0);
    if (size <= 0) return heard + "|closed";
    heard.append(bytes, static_cast<std::size_t>(size));
  }
  return heard;
}
std::string posted(const std::string& path, const Json& body, const std::string& headers = "") {
  const std::string text = body.dump();
  return fmt::format("POST {} HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", path, headers, text.size(), text);
}

// agon-tiny, but what ends its turns is a token that it does not write.
ServedModels endless() {
  static const test::TempFolder kFolder;
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

TEST_CASE("the server lists its models and reports its health and metrics") {
  Serving serving;
  CHECK(Json::parse(serving.client.Get("/health")->body)["status"] == "ok");
  const Json models = Json::parse(serving.client.Get("/v1/models")->body);
  CHECK(models["object"] == "list");
  CHECK(models["data"][0]["id"] == "agon-tiny");
  CHECK(models["data"][0]["max_model_len"] == 2048);
  CHECK(Json::parse(serving.client.Get("/v1/models/agon-tiny")->body)["id"] == "agon-tiny");
  serving.answer("/v1/chat/completions", chat("hello"));
  CHECK(serving.metric("agon_requests_total{route=\"/v1/chat/completions\",status=\"200\"}") == 1);
  CHECK(serving.metric("agon_generation_tokens_total") > 0);
  CHECK(serving.metric("agon_time_to_first_token_seconds_count") == 1);
  const Json nothing = Json::parse(serving.client.Get("/nothing")->body);
  CHECK(nothing["error"]["code"] == "not_found");
}

TEST_CASE("answers to 20 charts are those of the policy in this process") {
  Serving serving;
  const auto policy = agents::make_local_policy(tiny());
  const env::Suite suite("charts");
  const auto env = suite.make_env();
  for (std::uint64_t task = 0; task < 20; ++task) {
    std::vector<Message> messages;
    if (!suite.info().instructions.empty()) messages.push_back(Message::of(Role::system, suite.info().instructions));
    messages.push_back({Role::user, env->reset({env::Split::test, task, 0}).observation.parts, {}, {}});
    Json list = Json::array();
    for (const Message& message : messages) {
      Json content = Json::array();
      for (const Part& part : message.parts)
        if (part.is_image())
          content.push_back(picture_part(part.image));
        else
          content.push_back({{"type", "text"}, {"text", part.text}});
      list.push_back({{"role", to_string(message.role)}, {"content", content}});
    }
    agents::CompletionRequest request{.messages = messages};
    request.sampling.temperature = 0;
    request.sampling.max_tokens = 200;
    const agents::Completion here = policy->complete({&request, 1}).at(0);
    Json body{{"model", "agon-tiny"}, {"messages", list}, {"temperature", 0}, {"max_tokens", 200}, {"logprobs", true}};
    const Json there = serving.answer("/v1/chat/completions", body);
    const Json& choice = there["choices"][0];
    CHECK(choice["message"]["content"] == here.text);
    CHECK(there["usage"]["completion_tokens"] == here.tokens());
    CHECK(there["usage"]["prompt_tokens"] == here.prompt_tokens);
    CHECK(choice["finish_reason"] == std::string(to_string(here.finish_reason)));
    const Json& tokens = choice["logprobs"]["content"];
    REQUIRE(tokens.size() == here.logprobs.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      CHECK(tokens[i]["id"] == here.token_ids[i]);
      CHECK(tokens[i]["logprob"].get<double>() == Approx(here.logprobs[i]).margin(1e-6));
    }
    body["stream"] = true;
    const auto streamed = serving.client.Post("/v1/chat/completions", body.dump(), "application/json");
    REQUIRE(streamed);
    CHECK_THAT(streamed->get_header_value("Content-Type"), Contains("text/event-stream"));
    std::string text;
    std::size_t told = 0;
    for (const Json& event : events_in(streamed->body)) {
      const Json& one = event["choices"][0];
      text += one["delta"].value("content", "");
      if (one["logprobs"].is_object()) told += one["logprobs"]["content"].size();
    }
    CHECK(text == here.text);
    CHECK(told == here.logprobs.size());
  }
}

TEST_CASE("samples, seeds and stop strings") {
  Serving serving;
  const Json many = chat("Count.", {{"temperature", 1}, {"seed", 5}, {"n", 3}, {"max_tokens", 20}});
  const Json first = serving.answer("/v1/chat/completions", many),
             second = serving.answer("/v1/chat/completions", many);
  REQUIRE(first["choices"].size() == 3);
  CHECK(first["choices"] == second["choices"]);
  CHECK(first["choices"][2]["index"] == 2);
  CHECK(second["usage"]["prompt_tokens_details"]["cached_tokens"] == second["usage"]["prompt_tokens"]);
  CHECK(first["id"] != second["id"]);
  CHECK_THAT(first["id"].get<std::string>(), Catch::StartsWith("chatcmpl-"));
  const std::string whole = serving.answer("/v1/chat/completions", chat("Count."))["choices"][0]["message"]["content"];
  REQUIRE(whole.size() > 4);
  const std::string stop = whole.substr(2, 2);
  const std::size_t at = whole.find(stop);
  const Json cut = serving.answer("/v1/chat/completions", chat("Count.", {{"stop", stop}}))["choices"][0];
  CHECK(cut["message"]["content"] == whole.substr(0, at));
  CHECK(cut["finish_reason"] == "stop");
  CHECK(cut["stop_reason"] == stop);
  const Json kept = serving.answer(
      "/v1/chat/completions", chat("Count.", {{"stop", {stop}}, {"include_stop_str_in_output", true}}))["choices"][0];
  CHECK(kept["message"]["content"] == whole.substr(0, at + stop.size()));
  for (const bool keeps : {false, true}) {
    const auto streamed = serving.client.Post("/v1/chat/completions",
                                              chat("Count.", {{"stop", stop},
                                                              {"include_stop_str_in_output", keeps},
                                                              {"stream", true},
                                                              {"n", 2},
                                                              {"stream_options", {{"include_usage", true}}}})
                                                  .dump(),
                                              "application/json");
    REQUIRE(streamed);
    std::vector<std::string> texts(2);
    const std::vector<Json> events = events_in(streamed->body);
    for (const Json& event : events)
      for (const Json& choice : event["choices"])
        texts.at(choice["index"].get<std::size_t>()) += choice["delta"].value("content", "");
    CHECK(texts == std::vector<std::string>(2, whole.substr(0, at + (keeps ? stop.size() : 0))));
    CHECK(events.back()["choices"].empty());
    CHECK(events.back()["usage"]["completion_tokens"].get<int>() > 0);
    CHECK(events[events.size() - 2]["choices"][0]["stop_reason"] == stop);
  }
  const Json sure = serving.answer(
      "/v1/chat/completions", chat("What is 2 + 2?", {{"max_tokens", 40}, {"logprobs", true}, {"top_logprobs", 5}}));
  for (const Json& token : sure["choices"][0]["logprobs"]["content"]) CHECK(token["top_logprobs"].size() == 5);
  const Json ended = serving.answer("/v1/chat/completions", chat("Count.", {{"max_tokens", 1}}))["choices"][0];
  CHECK(ended["finish_reason"] == "length");
  CHECK(ended["stop_reason"].is_null());
}

TEST_CASE("a turn is continued where it stands") {
  Serving serving;
  const std::string whole =
      serving.answer("/v1/chat/completions", chat("Count.", {{"max_tokens", 16}}))["choices"][0]["message"]["content"];
  Json rest = chat("Count.", {{"continue_final_message", true}, {"add_generation_prompt", false}});
  rest["messages"].push_back({{"role", "assistant"}, {"content", "<think>"}});
  agents::CompletionRequest request{.messages = {Message::of(Role::user, "Count.")}, .prefix = "<think>"};
  request.sampling.temperature = 0;
  request.sampling.max_tokens = 12;
  const agents::Completion here = agents::make_local_policy(tiny())->complete({&request, 1}).at(0);
  CHECK(serving.answer("/v1/chat/completions", rest)["choices"][0]["message"]["content"] == here.text);
}

TEST_CASE("tools go to a template that takes them") {
  const Json tools = Json::parse(R"([{"type": "function", "function": {"name": "look_up", "parameters": {}}}])");
  Json asked = chat("Count.", {{"tools", tools}, {"max_tokens", 16}, {"return_token_ids", true}});
  {
    Serving plain;
    CHECK(plain.refusal("/v1/chat/completions", asked.dump())["param"] == "tools");
    CHECK(plain.refusal("/v1/completions", Json{{"prompt", "x"}, {"tools", tools}}.dump())["param"] == "tools");
  }
  const test::TempFolder folder;
  std::filesystem::copy(tiny(), folder / "with_tools");
  const std::string file = (folder / "with_tools/chat_template.jinja").string();
  write_file_atomically(file, "{%- if tools -%}{{- tools | tojson -}}{%- endif -%}" + read_file(file));
  Serving serving({}, {.policy = std::make_shared<ServedPolicy>(folder / "with_tools", agents::EngineOptions{})});
  const Json choice = serving.answer("/v1/chat/completions", asked)["choices"][0];
  const Json prompt{{"tokens", choice["prompt_token_ids"]}};
  CHECK_THAT(serving.answer("/detokenize", prompt)["prompt"].get<std::string>(),
             Catch::StartsWith(R"([{"type": "function", "function": {"name": "look_up", "parameters": {}}}])"));
  const Json counted{{"messages", asked["messages"]}, {"tools", tools}};
  CHECK(serving.answer("/tokenize", counted)["tokens"] == prompt["tokens"]);
  asked["stream"] = true;
  const auto events = serving.client.Post("/v1/chat/completions", asked.dump(), "application/json");
  REQUIRE(events);
  std::string text;
  for (const Json& event : events_in(events->body)) text += event["choices"][0]["delta"].value("content", "");
  CHECK(text == choice["message"]["content"]);
}

TEST_CASE("completions of texts and of ids, with echo and logprobs") {
  Serving serving;
  const Json tokens = serving.answer("/tokenize", {{"prompt", "The answer"}, {"return_token_strs", true}});
  const std::vector<std::int32_t> ids = tokens["tokens"];
  CHECK(tokens["count"] == ids.size());
  CHECK(tokens["max_model_len"] == 2048);
  CHECK(tokens["token_strs"].size() == ids.size());
  CHECK(serving.answer("/detokenize", {{"tokens", ids}})["prompt"] == "The answer");
  CHECK(serving.answer("/tokenize", {{"messages", {{{"role", "user"}, {"content", "hi"}}}}})["count"].get<int>() > 4);
  const Json text =
      serving.answer("/v1/completions", {{"prompt", "The answer"}, {"temperature", 0}, {"max_tokens", 5}});
  const Json same = serving.answer("/v1/completions", {{"prompt", ids}, {"temperature", 0}, {"max_tokens", 5}});
  CHECK(text["object"] == "text_completion");
  CHECK(text["choices"][0]["text"] == same["choices"][0]["text"]);
  CHECK(text["usage"]["prompt_tokens"] == ids.size());
  const Json echoed = serving.answer(
      "/v1/completions", {{"prompt", ids}, {"temperature", 0}, {"max_tokens", 5}, {"echo", true}, {"logprobs", 2}});
  const Json& choice = echoed["choices"][0];
  CHECK(choice["text"] == "The answer" + text["choices"][0]["text"].get<std::string>());
  const Json& logprobs = choice["logprobs"];
  const std::size_t all = ids.size() + echoed["usage"]["completion_tokens"].get<std::size_t>();
  for (const char* key : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    CHECK(logprobs[key].size() == all);
  CHECK(logprobs["token_logprobs"][0].is_null());
  CHECK(logprobs["token_logprobs"][1].get<double>() < 0);
  CHECK(logprobs["text_offset"][0] == 0);
  CHECK(logprobs["top_logprobs"][ids.size()].size() >= 1);
  CHECK(logprobs["top_logprobs"][1].size() >= 2);  // of the prompt too: whether it is what the model would write
  const Json scored =
      serving.answer("/v1/completions", {{"prompt", "The answer"}, {"max_tokens", 0}, {"echo", true}, {"logprobs", 0}});
  CHECK(scored["choices"][0]["text"] == "The answer");
  CHECK(scored["choices"][0]["logprobs"]["token_logprobs"].size() == ids.size());
  CHECK(scored["usage"]["completion_tokens"] == 0);
  const Json several = serving.answer("/v1/completions", {{"prompt", {"a", "b"}}, {"n", 2}, {"max_tokens", 2}});
  CHECK(several["choices"].size() == 4);
  const auto streamed = serving.client.Post(
      "/v1/completions",
      Json{{"prompt", "The answer"}, {"temperature", 0}, {"max_tokens", 5}, {"stream", true}, {"echo", true}}.dump(),
      "application/json");
  std::string joined;
  for (const Json& event : events_in(streamed->body)) joined += event["choices"][0]["text"].get<std::string>();
  CHECK(joined == choice["text"]);
}

TEST_CASE("the tokens of a prompt are scored, the same in all forms") {
  Serving serving;
  const Json asked{{"prompt", "The answer is 7."}, {"max_tokens", 1}, {"temperature", 0}};
  const auto with = [](Json body, const Json& more) {
    body.update(more);
    return body;
  };
  const Json echoed = serving.answer("/v1/completions", with(asked, {{"echo", true}, {"logprobs", 0}}));
  const Json told = serving.answer("/v1/completions", with(asked, {{"prompt_logprobs", 3}}));
  const Json& list = told["choices"][0]["prompt_logprobs"];
  REQUIRE(list.size() == told["usage"]["prompt_tokens"]);
  CHECK(list[0].is_null());
  std::string spelled;
  for (std::size_t i = 1; i < list.size(); ++i) {
    const Json own = list[i].front();
    CHECK(own["logprob"] == echoed["choices"][0]["logprobs"]["token_logprobs"][i]);
    CHECK((list[i].size() >= 3 && list[i].size() <= 4));
    spelled += own["decoded_token"].get<std::string>();
  }
  CHECK(std::string_view("The answer is 7.").ends_with(spelled));
  CHECK(serving.answer("/v1/completions", asked)["choices"][0].contains("prompt_logprobs") == false);

  Json picture = chat("How many?");
  picture["messages"][0]["content"] = {picture_part(Image(56, 56, std::vector<std::uint8_t>(56 * 56 * 3, 90))),
                                       {{"type", "text"}, {"text", "How many?"}}};
  picture["prompt_logprobs"] = 0;
  const Json seen = serving.answer("/v1/chat/completions", picture)["prompt_logprobs"];
  CHECK(seen[seen.size() / 4].is_null());  // of the picture
  CHECK(seen.back().front()["logprob"].get<double>() <= 0);
  picture["stream"] = true;
  CHECK(serving.refusal("/v1/chat/completions", picture.dump())["param"] == "prompt_logprobs");
}

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
    const int fd = connected(serving.server.port());
    say(fd, posted("/v1/chat/completions", long_chat(streams, 4)));
    const auto start = Clock::now();
    if (streams) CHECK_THAT(hear(fd, "\"content\""), Contains("200 OK") && Contains("chat.completion.chunk"));
    while (serving.metric("agon_batch_sequences") == 0 && seconds_since(start) < kSoon)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double before = serving.metric("agon_cancelled_requests_total");
    ::close(fd);
    while (serving.metric("agon_cancelled_requests_total") == before && seconds_since(start) < kSoon)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(serving.metric("agon_cancelled_requests_total") == before + 1);
    CHECK(serving.metric("agon_batch_sequences") == 0);
    CHECK(serving.metric("agon_requests_running") == 0);
  }
}

TEST_CASE("requests that find the queue full get 429") {
  Serving serving({.in_flight = 1, .queue = 1}, endless());
  std::vector<int> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(connected(serving.server.port()));
    say(clients.back(), posted("/v1/chat/completions", long_chat(false)));
    const auto start = Clock::now();
    while ((i == 0 ? serving.metric("agon_requests_running") : serving.metric("agon_requests_waiting")) == 0 &&
           seconds_since(start) < kSoon)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto reply = serving.client.Post("/v1/chat/completions", chat("x").dump(), "application/json");
  REQUIRE(reply);
  CHECK(reply->status == 429);
  CHECK(reply->get_header_value("Retry-After") == "1");
  CHECK(Json::parse(reply->body)["error"]["code"] == "rate_limit_exceeded");
  for (const int fd : clients) ::close(fd);
  const auto start = Clock::now();
  while (serving.metric("agon_requests_running") + serving.metric("agon_requests_waiting") > 0 &&
         seconds_since(start) < kSoon)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
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
  std::vector<int> silent;
  for (int i = 0; i < 1000; ++i)
    if (const int fd = connected(serving.server.port()); fd >= 0) silent.push_back(fd);
  CHECK(silent.size() == 1000);
  const auto start = Clock::now();
  int status = 0;
  while (status != 200 && seconds_since(start) < kSoon) {
    httplib::Client fresh("127.0.0.1", serving.server.port());
    const auto reply = fresh.Post("/v1/chat/completions", chat("hello").dump(), "application/json");
    status = reply ? reply->status : 0;
  }
  CHECK(status == 200);
  for (const int fd : silent) ::close(fd);
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
  const int fd = connected(serving->server.port());
  say(fd, posted("/v1/chat/completions",
                 chat("Say something.", {{"temperature", 100}, {"max_tokens", 150}, {"stream", true}})));
  std::string heard = hear(fd, "\"content\"");
  serving->stop = true;
  heard += hear(fd, "[DONE]");
  CHECK_THAT(heard, Contains("finish_reason\":\"") && Contains("[DONE]"));
  ::close(fd);
  const auto start = Clock::now();
  serving.reset();
  CHECK(seconds_since(start) < kSoon);
}

TEST_CASE("a stop ends what does not end in time") {
  ModelServerOptions options;
  options.limits.stop_seconds = 0.2;
  auto serving = std::make_unique<Serving>(options, endless());
  const int whole = connected(serving->server.port()), stream = connected(serving->server.port());
  say(whole, posted("/v1/chat/completions", long_chat(false, 64)));
  say(stream, posted("/v1/chat/completions", long_chat(true, 4)));
  const auto begun = Clock::now();
  const std::string beginning = hear(stream, "\"content\"");
  while (serving->metric("agon_batch_sequences") < 5 && seconds_since(begun) < kSoon)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  serving.reset();
  CHECK(seconds_since(begun) < kSoon);
  CHECK_THAT(hear(whole, "|closed"), Contains(" 503 ") || Contains("|closed"));
  // An end that tells, or no proper end.
  const std::string end = hear(stream, "|closed");
  CHECK_THAT(end, (Contains("was stopped") && Contains("[DONE]")) || !Contains("\r\n0\r\n\r\n"));
  for (const int fd : {whole, stream}) ::close(fd);
}

TEST_CASE("a reward model scores and ranks in one pass") {
  const auto model = std::make_shared<LengthModel>();
  Serving serving({}, {.reward_model = model, .reward_model_name = "longer"});
  const Json scored =
      serving.answer("/v1/score", {{"model", "longer"}, {"text_1", "q"}, {"text_2", {"a", "bbb", "cc"}}});
  CHECK(model->passes == 1);
  REQUIRE(scored["data"].size() == 3);
  CHECK(scored["data"][1]["score"] == 3);
  CHECK(scored["data"][1]["index"] == 1);
  CHECK(scored["usage"]["prompt_tokens"] == 7);
  for (const auto& [prompt, response] : std::vector<std::pair<const char*, const char*>>{
           {"queries", "documents"}, {"queries", "items"}, {"data_1", "data_2"}})
    CHECK(serving.answer("/score", {{prompt, "q"}, {response, {"a", "bb"}}})["data"][1]["score"] == 2);
  CHECK(serving.answer("/score", {{"text_1", "q"}, {"text_2", "four"}})["data"][0]["score"] == 4);
  CHECK(serving.answer("/score", {{"text_1", {"q", "p"}}, {"text_2", {"a", "bb"}}})["data"].size() == 2);
  const Json ranked =
      serving.answer("/v1/rerank", {{"query", "q"}, {"documents", {"a", "bbb", {{"text", "cc"}}}}, {"top_n", 2}});
  REQUIRE(ranked["results"].size() == 2);
  CHECK(ranked["results"][0]["index"] == 1);
  CHECK(ranked["results"][1]["document"]["text"] == "cc");
  const Json rows = serving.answer(
      "/pooling",
      {{"messages",
        {{{"role", "user"}, {"content", "1 + 1?"}}, {{"role", "assistant"}, {"content", "so<extra_0>two<extra_0>"}}}}});
  REQUIRE(rows["data"][0]["data"].size() == 2);
  CHECK(rows["data"][0]["data"][0][1].get<double>() == Approx(model->probability(2)));
  CHECK(serving.refusal("/score", R"({"text_1": ["a", "b"], "text_2": ["c"]})")["param"] == "text_1");
  CHECK(serving.refusal("/score", R"({"text_1": "a", "text_2": []})")["param"] == "text_2");
  CHECK(serving.refusal("/score", R"({"text_1": 5, "text_2": "a"})")["param"] == "text_1");
  CHECK(serving.refusal("/score", Json{{"text_1", "a"}, {"text_2", std::string(2000, 'x')}}.dump())["code"] ==
        "context_length_exceeded");
  CHECK(serving.refusal("/v1/rerank", R"({"query": "a"})")["param"] == "documents");
  CHECK(serving.refusal("/pooling", R"({"messages": [{"role": "user", "content": "x"}]})")["param"] == "messages");
  CHECK(serving.refusal("/v1/chat/completions", chat("x").dump(), 404)["code"] == "model_not_found");
}

// Right unless it says "no"; on "hm" it has no verdict.
struct WordCritic : critic::StepCritic {
  std::vector<critic::Verdict> judge(std::span<const critic::StepInContext> steps, std::int64_t) override {
    std::vector<critic::Verdict> verdicts;
    for (const critic::StepInContext& step : steps) {
      seen.push_back(step);
      critic::Verdict verdict;
      if (step.step != "hm") verdict.probability = step.step == "no" ? 0.25 : 0.75;
      if (step.step != "hm")
        verdict.judgement = step.step == "no" ? critic::Judgement::incorrect : critic::Judgement::correct;
      verdict.critique = "about " + step.step;
      verdict.tokens = 3;
      verdicts.push_back(verdict);
    }
    return verdicts;
  }
  std::string name() const override { return "words"; }
  std::vector<critic::StepInContext> seen;
};

TEST_CASE("a critic judges the steps of a solution") {
  const auto judge = std::make_shared<WordCritic>();
  Serving serving({}, {.policy = tiny_policy(), .critic = judge, .critic_name = "words"});
  const Json solution{{"messages",
                       {{{"role", "user"}, {"content", {picture_part(Image(40, 40, std::vector<std::uint8_t>(4800)))}}},
                        {{"role", "assistant"}, {"content", "yes<extra_0>no<extra_0>hm<extra_0>"}}}}};
  const Json whole = serving.answer("/pooling", solution)["data"][0];
  CHECK(whole["data"] == Json::parse("[[0.25, 0.75], [0.75, 0.25], null]"));
  CHECK(whole["critiques"] == Json::parse(R"(["about yes", "about no", "about hm"])"));
  REQUIRE(judge->seen.size() == 3);
  CHECK(judge->seen[2].before == "yes\n\nno");
  CHECK(judge->seen[2].messages.at(0).parts.at(0).is_image());
  Json last = solution;
  last["last_step_only"] = true;
  CHECK(serving.answer("/pooling", last)["data"][0]["data"] == Json::parse("[null, null, null]"));
  CHECK(judge->seen.size() == 4);
  CHECK(serving.answer("/pooling", last)["usage"]["completion_tokens"] == 3);
  CHECK(serving.refusal("/pooling", R"({"model": "agon-tiny", "messages": []})", 404)["code"] == "model_not_found");
  const Json listed = Json::parse(serving.client.Get("/v1/models")->body)["data"];
  CHECK(listed.at(1)["id"] == "words");
}

// Takes its time with every response.
struct SlowModel final : LengthModel {
  std::vector<std::vector<double>> score(std::span<const critic::Candidates> sets) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return LengthModel::score(sets);
  }
};

TEST_CASE("a client that goes ends what is scored for it") {
  const auto model = std::make_shared<SlowModel>();
  Serving serving({}, {.reward_model = model, .reward_model_name = "slow"});
  const int fd = connected(serving.server.port());
  Json body{{"text_1", "a"}, {"text_2", std::vector<std::string>(1000, "b")}};
  say(fd, posted("/v1/score", body));
  const auto start = Clock::now();
  while (model->passes == 0 && seconds_since(start) < kSoon) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ::close(fd);
  while (serving.metric("agon_cancelled_requests_total") == 0 && seconds_since(start) < kSoon)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(serving.metric("agon_cancelled_requests_total") == 1);
  CHECK(model->passes < 60);
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

TEST_CASE("what clients of OpenAI and vLLM write besides") {
  Serving serving;
  const std::string path = "/v1/chat/completions";
  const Json said = serving.answer(path, chat("x", {{"max_tokens", 3.0}, {"seed", 5.0}}));
  CHECK(said["usage"]["completion_tokens"].get<int>() <= 3);
  CHECK(serving.refusal(path, chat("x", {{"max_tokens", 3.5}}).dump())["param"] == "max_tokens");
  Json developer = chat("x");
  const Json brief{{"role", "developer"}, {"content", "Be brief."}};
  developer["messages"].insert(developer["messages"].begin(), brief);
  Json system = developer;
  system["messages"][0]["role"] = "system";
  CHECK(serving.answer(path, developer)["choices"] == serving.answer(path, system)["choices"]);
  const Json open = serving.answer("/tokenize", {{"messages", chat("x")["messages"]}});
  const Json shut =
      serving.answer("/tokenize", {{"messages", chat("x")["messages"]}, {"add_generation_prompt", false}});
  CHECK(open["count"].get<int>() > shut["count"].get<int>());
  CHECK(std::equal(shut["tokens"].begin(), shut["tokens"].end(), open["tokens"].begin()));
  CHECK(serving.refusal(path, R"({"messages": [{"role": "user", "content": "x"}]})" + std::string(1, '\0') +
                                  "x")["code"] == "invalid_json");
  CHECK(serving.refusal(path, chat("x", {{"stream", true}, {"stream_options", Json::array()}}).dump())["param"] ==
        "stream_options");
}

TEST_CASE("the text's offsets of tokens are those of the text, whole and streamed") {
  Serving serving;
  for (const bool echo : {true, false})
    for (int seed = 0; seed < 20; ++seed) {
      Json body{{"prompt", "\u6f22x"}, {"max_tokens", 12}, {"logprobs", 1},    {"echo", echo},
                {"seed", seed},        {"stop", {"q9"}},   {"temperature", 2}, {"return_token_ids", true}};
      const Json whole = serving.answer("/v1/completions", body)["choices"][0];
      const Json& offsets = whole["logprobs"]["text_offset"];
      CHECK(std::is_sorted(offsets.begin(), offsets.end()));
      body["stream"] = true;
      const auto streamed = serving.client.Post("/v1/completions", body.dump(), "application/json");
      REQUIRE(streamed);
      Json told = Json::array(), ids = Json::array(), prompts = Json::array();
      for (const Json& event : events_in(streamed->body)) {
        const Json& choice = event["choices"][0];
        if (choice.contains("prompt_token_ids")) prompts.push_back(choice["prompt_token_ids"]);
        for (const Json& id : choice.value("token_ids", Json::array())) ids.push_back(id);
        if (choice["logprobs"].is_object())
          for (const Json& offset : choice["logprobs"]["text_offset"]) told.push_back(offset);
      }
      CHECK(told == offsets);
      CHECK(ids == whole["token_ids"]);
      CHECK(prompts == Json::array({whole["prompt_token_ids"]}));
    }
}

TEST_CASE("a search index is served beside") {
  const test::TempFolder folder;
  write_file_atomically(folder / "docs.jsonl", R"({"id": "1", "contents": "\"Cats\"\nThe cat sat on the mat."})");
  tools::build_search_index(folder / "docs.jsonl", folder / "index");
  Serving serving({}, {.search = std::make_shared<tools::SearchIndex>(folder / "index")});
  CHECK(serving.answer("/retrieve", {{"queries", {"cat"}}, {"topk", 1}})["result"][0][0]["id"] == "1");
  CHECK(serving.post("/retrieve", "{").first == 400);
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
