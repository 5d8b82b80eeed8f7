#include "tools/search/retrieve_server.h"
#include "core/file.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "net/http_client.h"
#include "soon.h"
#include "temp_folder.h"
#include "tools/search/index_builder.h"
#include "tools/search/open_search.h"
#include "tools/search/retrieve_protocol.h"
#include "tools/search/search_index.h"
#include "tools/search/web_search.h"
#include "wire/client.h"

using namespace agon;
using namespace agon::tools;
using namespace agon::test;
using Catch::Contains;

namespace {

std::shared_ptr<SearchBackend> pets(const TempFolder& folder) {
  write_file_atomically(folder / "docs.jsonl",
                        R"({"id": "1", "contents": "\"Cats\"\nThe cat sat on the mat."}
{"id": "2", "contents": "\"Dogs\"\nA dog is not a cat."}
)");
  build_search_index(folder / "docs.jsonl", folder / "index");
  return std::make_shared<SearchIndex>(folder / "index");
}

// A server that runs as long as it lives.
struct Serving {
  explicit Serving(std::shared_ptr<SearchBackend> backend,
                   const RetrieveServerOptions& options = {.port = 0, .threads = 4, .most_request_bytes = 1 << 20})
      : server(std::move(backend), options), thread([this] { server.run(stop); }), client("127.0.0.1", server.port()) {
    std::signal(SIGPIPE, SIG_IGN);  // the client's
  }
  ~Serving() {
    stop = true;
    thread.join();
  }
  std::pair<int, Json> post(const std::string& body, const std::string& path = "/retrieve") {
    const auto reply = client.Post(path, body, "application/json");
    INFO(httplib::to_string(reply.error()));
    REQUIRE(reply);
    return {reply->status, Json::parse(reply->body)};
  }
  std::atomic<bool> stop = false;
  RetrieveServer server;
  std::thread thread;
  httplib::Client client;
};

// Throws like a damaged index.
struct Broken : SearchBackend {
  SearchReply search(const std::string& query, int, double) override {
    if (query == "down") return SearchReply::failed(ToolFault::unavailable, "nobody there");
    throw Error("the index is damaged");
  }
  Json identity() const override { return "broken"; }
};

std::string post_text(const std::string& body) {
  return fmt::format("POST /retrieve HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}
constexpr const char* kHealth = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr const char* kCats = R"({"queries": ["cat"]})";

bool is_healthy(int port) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(20);
  const auto reply = client.Get("/health");
  return reply && reply->status == 200;
}

// Answers each query with `bytes` of text, once `open` is set and `seconds` have passed.
struct Slow : SearchBackend {
  explicit Slow(std::size_t size, double wait = 0) : bytes(size), seconds(wait) {}
  SearchReply search(const std::string&, int, double) override {
    ++asked;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    SearchHit hit;
    hit.text = std::string(bytes, 'x');
    return {{hit}, {}, 0};
  }
  Json identity() const override { return "slow"; }
  const std::size_t bytes;
  const double seconds;
  std::atomic<bool> open = true;
  std::atomic<int> asked = 0;
};

}  // namespace

TEST_CASE("/retrieve answers as Search-R1's server does") {
  const TempFolder folder;
  Serving serving(pets(folder));
  const auto [status, scored] =
      serving.post(R"({"queries": ["cat", "dogs", "none"], "topk": 2, "return_scores": true})");
  CHECK(status == 200);
  REQUIRE(scored["result"].size() == 3);
  CHECK(scored["result"][0].size() == 2);
  CHECK(scored["result"][2].empty());
  const Json& first = scored["result"][1][0];
  CHECK(first["document"]["id"] == "2");
  CHECK(first["document"]["contents"] == "\"Dogs\"\nA dog is not a cat.");
  CHECK(first["document"]["title"] == "Dogs");
  CHECK(first["score"].get<double>() > 0);
  const Json bare = serving.post(R"({"queries": ["dog"]})").second;
  CHECK(bare["result"][0][0]["contents"] == "\"Dogs\"\nA dog is not a cat.");
  CHECK_FALSE(bare["result"][0][0].contains("score"));
  CHECK(serving.server.answered() == 2);
  const auto health = serving.client.Get("/health");
  CHECK(Json::parse(health->body)["status"] == "healthy");
  CHECK(Json::parse(health->body)["search"]["engine"] == "index");
}

TEST_CASE("our client reads our server") {
  const TempFolder folder;
  const auto index = pets(folder);
  Serving serving(index);
  const auto client =
      make_web_search({.engine = "retrieve", .url = fmt::format("http://127.0.0.1:{}/", serving.server.port())});
  const SearchReply here = index->search("cat", 2, 1), there = client->search("cat", 2, 5);
  REQUIRE(there.hits.size() == here.hits.size());
  for (std::size_t i = 0; i < here.hits.size(); ++i) {
    CHECK(there.hits[i].id == here.hits[i].id);
    CHECK(there.hits[i].title == here.hits[i].title);
    CHECK(there.hits[i].text == here.hits[i].text);
    CHECK(there.hits[i].score == here.hits[i].score);
  }
}

TEST_CASE("requests that are none are refused with what is wrong") {
  const TempFolder folder;
  Serving serving(pets(folder));
  const auto refused = [&](const std::string& body, int status = 400) {
    const auto [got, answer] = serving.post(body);
    CHECK(got == status);
    return answer["error"].get<std::string>();
  };
  CHECK_THAT(refused("{"), Contains("not JSON"));
  CHECK_THAT(refused(""), Contains("not JSON"));
  CHECK_THAT(refused("[]"), Contains("\"queries\" is null"));
  CHECK_THAT(refused(R"({"queries": []})"), Contains("\"queries\" is []"));
  CHECK_THAT(refused(R"({"queries": [1]})"), Contains("\"queries\" is [1]"));
  CHECK_THAT(refused(R"({"queries": ["x"], "topk": 0})"), Contains("\"topk\" is 0"));
  CHECK_THAT(refused(R"({"queries": ["x"], "topk": 1e99})"), Contains("\"topk\""));
  CHECK_THAT(refused(R"({"queries": ["x"], "topk": 18446744073709551615})"), Contains("\"topk\""));
  CHECK_THAT(refused(R"({"queries": ["x"], "return_scores": 1})"), Contains("\"return_scores\" is 1"));
  CHECK_THAT(refused(std::string(100'000, '[')), Contains("nested"));
  Json many = {{"queries", std::vector<std::string>(4000, "x")}, {"topk", 1000}};
  CHECK_THAT(refused(many.dump()), Contains("too many"));
  CHECK_THAT(refused(std::string(2 << 20, ' '), 413), Contains("larger"));
  CHECK(serving.post("{}", "/nothing").first == 404);
  CHECK(serving.post(R"({"queries": ["\ud83d\ude00 \u0000 \" OR NEAR("]})").first == 200);
  httplib::MultipartFormDataItems form = {{"queries", "x", "", ""}};
  CHECK(serving.client.Post("/retrieve", form)->status >= 400);
  CHECK(serving.post(R"({"queries": ["cat"], "topk": null, "return_scores": null})").first == 200);
  CHECK(serving.post(R"({"queries": ["cat"]})").first == 200);  // the server still answers
}

TEST_CASE("a body in chunks is bounded too") {
  const TempFolder folder;
  Serving serving(pets(folder));
  std::size_t sent = 0;
  const auto reply = serving.client.Post(
      "/retrieve",
      [&](std::size_t, httplib::DataSink& sink) {
        const std::string block(1 << 16, ' ');
        sent += block.size();
        if (sent > 64u << 20) sink.done();
        return sink.write(block.data(), block.size());
      },
      "application/json");
  CHECK((!reply || reply->status == 413));
  CHECK(sent < 64u << 20);
  CHECK(serving.client.Get("/health")->status == 200);
}

TEST_CASE("a backend that fails is no empty result") {
  Serving serving(std::make_shared<Broken>());
  CHECK(serving.post(R"({"queries": ["down"]})") == std::pair{503, Json{{"error", "nobody there"}}});
  CHECK(serving.post(R"({"queries": ["x"]})") == std::pair{500, Json{{"error", "the index is damaged"}}});
}

TEST_CASE("many clients are served at once, and a stop lets them end") {
  const TempFolder folder;
  std::atomic<int> right = 0;
  {
    Serving serving(pets(folder));
    std::vector<std::jthread> clients;
    for (int i = 0; i < 12; ++i)
      clients.emplace_back([&] {
        httplib::Client client("127.0.0.1", serving.server.port());
        for (int round = 0; round < 10; ++round) {
          const auto reply = client.Post("/retrieve", R"({"queries": ["cat"]})", "application/json");
          right += reply && reply->status == 200 && reply->body.find("Cats") != std::string::npos;
        }
      });
  }
  CHECK(right == 120);
}

TEST_CASE("a port that is taken is told") {
  const TempFolder folder;
  Serving serving(pets(folder));
  CHECK_THROWS_WITH(RetrieveServer(std::make_shared<Broken>(), {.port = serving.server.port()}),
                    Contains("cannot listen there"));
  CHECK_THROWS_WITH(RetrieveServer(std::make_shared<Broken>(), {.host = "no.such.host.invalid"}),
                    Contains("cannot listen there"));
}

TEST_CASE("idle connections hold no worker") {
  const TempFolder folder;
  Serving serving(pets(folder), {.port = 0, .threads = 2});
  std::vector<std::unique_ptr<WireClient>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<WireClient>(serving.server.port()));
    if (i % 2 == 0) continue;  // sends nothing
    idle.back()->say(kHealth);
    CHECK_THAT(idle.back()->hear("}}"), Contains("200 OK") && Contains("healthy"));
  }
  const auto start = Clock::now();
  CHECK(serving.post(kCats).first == 200);
  CHECK(is_healthy(serving.server.port()));
  CHECK(seconds_since(start) < kSoon);
  idle[1]->say(post_text(kCats));  // idle connections are still served
  CHECK_THAT(idle[1]->hear("]]}"), Contains("Cats"));
}

TEST_CASE("slow requests hold up neither others nor the end") {
  const TempFolder folder;
  auto serving = std::make_unique<Serving>(pets(folder), RetrieveServerOptions{.port = 0, .threads = 2});
  const int port = serving->server.port();
  std::vector<std::unique_ptr<WireClient>> slow;
  for (int i = 0; i < 60; ++i) {
    slow.push_back(std::make_unique<WireClient>(port));
    slow.back()->can_say(i % 2 == 0 ? "GET /health HTTP/1.1\r\nX: "
                                    : "POST /retrieve HTTP/1.1\r\nContent-Length: 99\r\n\r\n{");
  }
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const auto& client : slow) client->can_say("x");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  auto start = Clock::now();
  for (int i = 0; i < 5; ++i) CHECK(is_healthy(port));
  CHECK(serving->post(kCats).first == 200);
  CHECK(seconds_since(start) < kSoon);
  start = Clock::now();
  serving.reset();
  CHECK(seconds_since(start) < kSoon);
}

TEST_CASE("a request has its time: headers, body, and between two") {
  const TempFolder folder;
  net::HttpLimits limits;
  limits.header_seconds = limits.body_seconds = limits.idle_seconds = 0.3;
  Serving serving(pets(folder), {.port = 0, .threads = 2, .limits = limits});
  const WireClient silent(serving.server.port()), header(serving.server.port()), body(serving.server.port()),
      kept(serving.server.port());
  header.say("GET /health HT");
  body.say("POST /retrieve HTTP/1.1\r\nContent-Length: 20\r\n\r\n{");
  kept.say(kHealth);
  CHECK_THAT(kept.hear("}}"), Contains("200 OK"));
  for (const WireClient* client : {&silent, &header, &body, &kept}) CHECK(client->hear() == "|closed");
  // Sending a byte now and then does not extend the time.
  const WireClient dripping(serving.server.port());
  const auto start = Clock::now();
  while (dripping.can_say("G") && seconds_since(start) < kSoon)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(seconds_since(start) < kSoon);
}

TEST_CASE("connections are bounded: the longest idle one makes room, and where all are at work one more gets 503") {
  const auto backend = std::make_shared<Slow>(10);
  net::HttpLimits limits;
  limits.connections = 4;
  Serving serving(backend, {.port = 0, .threads = 4, .limits = limits});
  const int port = serving.server.port();
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<WireClient>(port));
    clients.back()->say(kHealth);
    CHECK_THAT(clients.back()->hear("}"), Contains("200 OK"));
  }
  WireClient fifth(port);
  fifth.say(kHealth);
  CHECK_THAT(fifth.hear("}"), Contains("200 OK"));
  CHECK(clients[0]->hear() == "|closed");
  backend->open = false;
  for (const WireClient* client :
       std::vector<const WireClient*>{clients[1].get(), clients[2].get(), clients[3].get(), &fifth})
    client->say(post_text(kCats));
  while (backend->asked < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 100; ++i) {
    const WireClient surplus(port);
    surplus.can_say(kHealth);
    if (i % 10 == 0)
      CHECK_THAT(surplus.hear(), Contains("503") && Contains("Retry-After") && Contains("all connections"));
  }
  backend->open = true;
  CHECK_THAT(fifth.hear("]]}"), Contains("200 OK"));
  CHECK(is_healthy(port));
}

TEST_CASE("clients that do not read hold bytes that are bounded, and not for long") {
  net::HttpLimits limits;
  limits.most_held_bytes = 24 << 20;
  Serving serving(std::make_shared<Slow>(4 << 20), {.port = 0, .threads = 4, .limits = limits});
  std::vector<std::unique_ptr<WireClient>> deaf;
  for (int i = 0; i < 20; ++i) {
    deaf.push_back(std::make_unique<WireClient>(serving.server.port()));
    deaf.back()->can_say(post_text(kCats));
  }
  const auto start = Clock::now();
  int status = 0;
  while (status != 200 && seconds_since(start) < kSoon) {
    const auto reply = serving.client.Post("/retrieve", kCats, "application/json");  // no reply while all threads wait
    status = reply ? reply->status : 0;
  }
  CHECK(status == 200);
}

TEST_CASE("clients that do not go on with a body hold bytes that are bounded, and not for long") {
  const TempFolder folder;
  net::HttpLimits limits;
  limits.most_held_bytes = 3 << 20;
  Serving serving(pets(folder), {.port = 0, .threads = 4, .most_request_bytes = 1 << 20, .limits = limits});
  std::vector<std::unique_ptr<WireClient>> slow;
  const std::string start = "POST /retrieve HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + std::string(900'000, ' ');
  for (int i = 0; i < 8; ++i) {
    slow.push_back(std::make_unique<WireClient>(serving.server.port()));
    slow.back()->can_say(start);
  }
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const auto& client : slow) client->can_say(" ");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const std::string large = R"({"queries": ["cat)" + std::string(900'000, ' ') + "\"]}";
  const auto begun = Clock::now();
  int status = 0;
  while (status != 200 && seconds_since(begun) < kSoon) {
    httplib::Client client("127.0.0.1", serving.server.port());
    const auto reply = client.Post("/retrieve", large, "application/json");
    status = reply ? reply->status : 0;
  }
  CHECK(status == 200);
}

TEST_CASE("an answer is bounded") {
  Serving serving(std::make_shared<Slow>(1 << 20), {.port = 0, .threads = 4, .most_answer_bytes = 5 << 20});
  CHECK(serving.post(R"({"queries": ["a", "b"]})").first == 200);
  const auto [status, answer] = serving.post(R"({"queries": ["a", "b", "c", "d"]})");
  CHECK(status == 400);
  CHECK_THAT(answer["error"].get<std::string>(), Contains("larger than 5242880 bytes"));
}

TEST_CASE("a budget of bytes is shared and given back") {
  net::ByteBudget budget(100);
  net::ByteBudget::Lease first(budget), second(budget);
  CHECK(first.resize(60));
  CHECK_FALSE(second.resize(41));
  CHECK(second.resize(40));
  CHECK(budget.held() == 100);
  CHECK(budget.refusals() == 1);
  CHECK(first.resize(10));
  CHECK_FALSE(second.resize(~std::size_t{0}));
  net::ByteBudget::Lease moved(std::move(first));
  CHECK(budget.held() == 50);
  moved = {};
  CHECK(budget.held() == 40);
  second = net::ByteBudget::Lease(budget);
  CHECK(budget.held() == 0);
  CHECK(net::ByteBudget::Lease().resize(5));
}

TEST_CASE("what is not HTTP, or not as it is mostly written, is answered") {
  const TempFolder folder;
  Serving serving(pets(folder));
  const auto said = [&](const std::string& text) {
    const WireClient client(serving.server.port());
    client.can_say(text);
    client.say_no_more();
    return client.hear();
  };
  CHECK_THAT(said("garbage\r\n\r\n"), Contains(" 400 ") && Contains("not HTTP") && Catch::EndsWith("|closed"));
  CHECK_THAT(said("GET /health HTTP/9.9\r\n\r\n"), Contains(" 400 "));
  CHECK_THAT(said("GET /health HTTP/1.1\r\nX: " + std::string(60'000, 'x') + "\r\n\r\n"), Contains(" 431 "));
  CHECK_THAT(said("POST /retrieve HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\nx"), Contains(" 413 "));
  CHECK_THAT(said("POST /retrieve HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\nx"), Contains(" 400 "));
  CHECK_THAT(said("POST /retrieve HTTP/1.1\r\nContent-Length: -1\r\n\r\nx"), Contains(" 400 "));
  CHECK_THAT(said("POST /retrieve HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"),
             Contains(" 4"));
  for (const char* coding : {"identity", "gzip", "chunked, gzip", "gzip, chunked", "chunked, chunked", "xchunked",
                             "\"chunked\"", "", "chunked\r\nTransfer-Encoding: chunked"}) {
    const std::string heard =
        said(fmt::format("GET /health HTTP/1.1\r\nTransfer-Encoding: {}\r\n\r\n{}", coding, kHealth));
    CHECK_THAT(heard, (Contains(" 501 ") || Contains(" 400 ")) && !Contains("healthy"));
  }
  CHECK_THAT(said("GET /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), Contains(" 501 "));
  CHECK(said("") == "|closed");
  CHECK(said("GET /hea") == "|closed");
  CHECK_THAT(said("GET /health?x=1 HTTP/1.0\r\n\r\n"), Contains("200 OK") && Contains("healthy"));
  CHECK_THAT(said("HEAD /health HTTP/1.1\r\n\r\n"), Contains("200 OK") && !Contains("healthy"));
  CHECK_THAT(said("DELETE /health HTTP/1.1\r\n\r\n"), Contains(" 405 ") && Contains("Allow: GET\r\n"));
  CHECK_THAT(said("GET /nothing HTTP/1.1\r\n\r\n"), Contains(" 404 ") && Contains("There are POST /retrieve"));
  const std::string two = said(std::string(kHealth) + post_text(kCats));
  CHECK_THAT(two, Contains("healthy") && Contains("Cats"));
  CHECK_THAT(said("POST /retrieve HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"que\r\nf\r\nries\": "
                  "[\"cat\"]}\r\n0\r\n\r\n"),
             Contains("Cats"));
  const WireClient waiting(serving.server.port());
  waiting.say(fmt::format("POST /retrieve HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
                          std::string_view(kCats).size()));
  CHECK_THAT(waiting.hear("\r\n\r\n"), Contains("100 Continue"));
  waiting.say(kCats);
  CHECK_THAT(waiting.hear("]]}"), Contains("Cats"));
  const auto [status, long_number] = serving.post(R"({"queries": ["a"], "topk": )" + std::string(1'000'000, '9') + "}");
  CHECK(status == 400);
  CHECK(long_number.dump().size() < 200);
  CHECK(serving.post(R"({"queries": [")" + std::string(500'000, '9') + "\\\"7\"]}").first == 200);
  CHECK(serving.post(R"({"queries": [")" + std::string(500'000, '9')).second.dump().size() < 500);
  std::string many = "0";
  for (int i = 0; i < 50'000; ++i) many += ",0";
  CHECK_THAT(serving.post(R"({"queries": [)" + many + "]}").second["error"].get<std::string>(), Contains("values"));
}

TEST_CASE("a stop ends what is long, and lets what is short end") {
  const auto backend = std::make_shared<Slow>(10, 0.1);
  auto serving = std::make_unique<Serving>(backend);
  const WireClient brief(serving->server.port()), lengthy(serving->server.port());
  lengthy.say(post_text(Json{{"queries", std::vector<std::string>(4000, "x")}, {"topk", 1}}.dump()));
  while (backend->asked < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  brief.say(post_text(kCats));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto start = Clock::now();
  serving.reset();
  CHECK(seconds_since(start) < kSoon);
  CHECK_THAT(brief.hear(), Contains("200 OK") && Contains("close"));
  CHECK(backend->asked < 100);
}

namespace {

// Accepts connections and never answers.
class Mute {
 public:
  Mute() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 5) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url_ = fmt::format("http://127.0.0.1:{}", ntohs(address.sin_port));
  }
  ~Mute() { ::close(listener_); }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;
  const std::string& url() const { return url_; }

 private:
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string url_;
};

}  // namespace

TEST_CASE("a stop does not wait for a server that is asked") {
  const Mute mute;
  double soonest = kSoon;  // fastest of three, since the machine may be busy
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> stop = false;
    const net::HttpStop scope(stop);
    Clock::time_point stopped;
    const std::jthread soon([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      stopped = Clock::now();
      stop = true;
    });
    const net::HttpReply reply = net::http_request({mute.url(), {}, {}, 60});
    CHECK_THAT(reply.fault, Contains("stopped"));
    soonest = std::min(soonest, seconds_since(stopped));
  }
  CHECK(soonest < 0.3);
}

TEST_CASE("a stop answers the client whose search waits for another server") {
  const Mute mute;
  auto serving = std::make_unique<Serving>(open_search({.where = mute.url()}));
  const WireClient client(serving->server.port());
  client.say(post_text(kCats));
  while (serving->server.answered() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto start = Clock::now();
  serving.reset();
  CHECK(seconds_since(start) < kSoon);
  CHECK_THAT(client.hear(), Contains("503") && Contains("stopped"));
}

TEST_CASE("contents are answered as the corpus gave them") {
  const TempFolder folder;
  const std::vector<std::string> given = {
      "\"Cats\"\nquoted", "Cats\nplain",         " \"Cats\" \r\nspaces",        "\ncats of no title",
      "cats on one line", "\"Cats\nhalf quoted", "\"\"\ncats of an empty title"};
  std::string lines;
  for (std::size_t i = 0; i < given.size(); ++i)
    lines += Json{{"id", std::to_string(i)}, {"contents", given[i]}}.dump() + "\n";
  write_file_atomically(folder / "docs.jsonl", lines + R"({"id": "t", "title": "Cats", "text": "apart"})");
  build_search_index(folder / "docs.jsonl", folder / "docs.index");
  Serving serving(std::make_shared<SearchIndex>(folder / "docs.index"));
  Serving second(open_search({.where = fmt::format("http://127.0.0.1:{}", serving.server.port())}));  // asks the first
  Serving recorded(open_search({.where = (folder / "docs.index").string(),
                                .bm25 = {},
                                .cache = folder / "cache",
                                .cache_mode = CacheMode::record}));
  for (Serving* server : {&serving, &second, &recorded, &recorded}) {
    const Json answer = server->post(R"({"queries": ["cats"], "topk": 20})").second;
    REQUIRE(answer["result"][0].size() == given.size() + 1);
    for (const Json& document : answer["result"][0]) {
      const std::string id = document["id"];
      CAPTURE(id);
      CHECK(document["contents"] == (id == "t" ? "\"Cats\"\napart" : given[std::stoul(id)]));
    }
  }
}
