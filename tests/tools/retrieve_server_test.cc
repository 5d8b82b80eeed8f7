#include "tools/retrieve_server.h"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <thread>

#include "core/error.h"
#include "core/text.h"
#include "temp_folder.h"
#include "tools/retrieve_protocol.h"
#include "tools/search_index.h"
#include "tools/web_search.h"

using namespace agon;
using namespace agon::tools;
using Catch::Contains;

namespace {

std::shared_ptr<SearchBackend> pets(const test::TempFolder& folder) {
  write_file_atomically(folder / "docs.jsonl",
                        R"({"id": "1", "contents": "\"Cats\"\nThe cat sat on the mat."}
{"id": "2", "contents": "\"Dogs\"\nA dog is not a cat."}
)");
  build_search_index(folder / "docs.jsonl", folder / "index");
  return std::make_shared<SearchIndex>(folder / "index");
}

// Serves as long as it lives.
struct Serving {
  explicit Serving(std::shared_ptr<SearchBackend> backend)
      : server(std::move(backend), {.port = 0, .threads = 4, .most_request_bytes = 1 << 20}),
        thread([this] { server.run(stop); }),
        client("127.0.0.1", server.port()) {}
  ~Serving() {
    stop = true;
    thread.join();
  }
  std::pair<int, Json> post(const std::string& body, const std::string& path = "/retrieve") {
    const auto reply = client.Post(path, body, "application/json");
    REQUIRE(reply);
    return {reply->status, Json::parse(reply->body)};
  }
  std::atomic<bool> stop = false;
  RetrieveServer server;
  std::thread thread;
  httplib::Client client;
};

// Throws, as a damaged index does.
struct Broken : SearchBackend {
  SearchReply search(const std::string& query, int, double) override {
    if (query == "down") return SearchReply::failed(ToolFault::unavailable, "nobody there");
    throw Error("the index is damaged");
  }
  Json identity() const override { return "broken"; }
};

}  // namespace

TEST_CASE("/retrieve answers as Search-R1's server does") {
  const test::TempFolder folder;
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
  const test::TempFolder folder;
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
  const test::TempFolder folder;
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
  CHECK(serving.post(R"({"queries": ["cat"]})").first == 200);  // and it still answers
}

TEST_CASE("a body in chunks is bounded too") {
  const test::TempFolder folder;
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
  const test::TempFolder folder;
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
  const test::TempFolder folder;
  Serving serving(pets(folder));
  CHECK_THROWS_WITH(RetrieveServer(std::make_shared<Broken>(), {.port = serving.server.port()}),
                    Contains("cannot be listened on"));
  CHECK_THROWS_WITH(RetrieveServer(std::make_shared<Broken>(), {.host = "no.such.host.invalid"}),
                    Contains("cannot be listened on"));
}
