#include "tools/search/web_search.h"

#include <httplib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "net/http_client.h"
#include "net/redaction.h"
#include "net/url.h"
#include "temp_folder.h"
#include "tools/search/open_search.h"
#include "tools/search/search_cache.h"
#include "tools/search/search_tool.h"
#include "tools/tool_set.h"

using namespace agon;
using namespace agon::tools;
using namespace agon::test;
using Catch::Contains;

namespace {

using Request = httplib::Request;
using Response = httplib::Response;

// An HTTP server on the loopback that answers as a test says, in its own thread.
class FakeServer {
 public:
  using Handler = std::function<void(const httplib::Request&, httplib::Response&)>;
  explicit FakeServer(Handler handler) {
    server_.Get(".*", handler);
    server_.Post(".*", handler);
    server_.set_keep_alive_max_count(1);  // else an idle connection would delay the end
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~FakeServer() { server_.stop(); }
  std::string url(const std::string& path = "") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

FakeServer::Handler says(std::string body, int status = 200, std::string type = "application/json") {
  return [=](const Request&, Response& response) {
    response.status = status;
    response.set_content(body, type.c_str());
  };
}

SearchReply ask(const std::string& engine, const FakeServer& server, const std::string& query = "who?", int top_k = 3,
                double seconds = 5) {
  return make_web_search({.engine = engine, .url = server.url()})->search(query, top_k, seconds);
}

std::string fault(const SearchReply& reply) {
  return reply.failure ? std::string(to_string(reply.failure->fault)) : fmt::format("{} hits", reply.hits.size());
}
std::string message(const SearchReply& reply) { return reply.failure ? reply.failure->message : "no failure"; }

// The reply of an engine for that answer.
SearchReply taken(const std::string& engine, const std::string& body, int status = 200,
                  const std::string& type = "application/json") {
  const FakeServer server(says(body, status, type));
  return ask(engine, server);
}

// A key in the environment for as long as the object lives.
struct Key {
  std::string name;
  Key(std::string variable, const std::string& value) : name(std::move(variable)) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Key() { ::unsetenv(name.c_str()); }
};

}  // namespace

TEST_CASE("a /retrieve server is read in both of its forms") {
  const std::string scored =
      R"({"result": [[{"document": {"id": "7", "contents": "\"Title\"\nThe text."}, "score": 3.5}, {"document": {"contents": "bare"}}]]})";
  const SearchReply reply = taken("retrieve", scored);
  REQUIRE(reply.hits.size() == 2);
  CHECK(reply.hits[0].id == "7");
  CHECK(reply.hits[0].title == "Title");
  CHECK(reply.hits[0].text == "The text.");
  CHECK(reply.hits[0].score == 3.5);
  CHECK_FALSE(reply.hits[1].score);
  CHECK(reply.bytes == std::ssize(scored));
  CHECK(taken("retrieve", R"({"result": [[{"id": 7, "title": "T", "text": "x"}, "\"T\"\ny"]]})").hits[1].text == "y");
  CHECK(fault(taken("retrieve", R"({"result": [[]]})")) == "0 hits");
  CHECK(taken("retrieve", R"({"result": [[{"contents":"1"},{"contents":"2"},{"contents":"3"},{"contents":"4"}]]})")
            .hits.size() == 3);
  std::string many = "\"\"";
  for (int i = 0; i < 150'000; ++i) many += ",\"\"";
  CHECK(taken("retrieve", fmt::format(R"({{"result": [[{}]]}})", many)).hits.size() == 3);
  CHECK_THAT(message(taken("retrieve", fmt::format(R"({{"result": [[{0},{0}]]}})", many))), Contains("values"));
  for (const char* wrong : {R"({"result": []})", R"({"result": [[], []]})", R"({"results": [[]]})", "[]", "null", "3",
                            R"({"result": [{}]})", R"({"result": [[3]]})", R"({"result": [[{"document": null}]]})"})
    CHECK(fault(taken("retrieve", wrong)) == "failed");
}

TEST_CASE("what is asked is what the engines take") {
  std::mutex mutex;
  Request seen;
  const FakeServer server([&](const Request& request, Response& response) {
    const std::lock_guard lock(mutex);
    seen = request;
    response.set_content(R"({"result": [[]], "results": [], "organic": []})", "application/json");
  });
  ask("retrieve", server, "a \"quote\" \xff & more", 2);
  CHECK(seen.path == "/retrieve");
  CHECK(nlohmann::json::parse(seen.body) ==
        nlohmann::json::parse(
            "{\"queries\": [\"a \\\"quote\\\" \xEF\xBF\xBD & more\"], \"topk\": 2, \"return_scores\": true}"));
  ask("searxng", server, "a&b=c d%");
  CHECK(seen.path == "/search");
  CHECK(seen.get_param_value("q") == "a&b=c d%");
  CHECK(seen.get_param_value("format") == "json");
  const Key serper("SERPER_API_KEY", "secret-1"), brave("BRAVE_API_KEY", "secret-2");
  ask("serper", server, "x", 5);
  CHECK(seen.get_header_value("X-API-KEY") == "secret-1");
  CHECK(Json::parse(seen.body) == Json{{"num", 5}, {"q", "x"}});
  ask("brave", server, std::string(5000, 'x'), 50);
  CHECK(seen.get_header_value("X-Subscription-Token") == "secret-2");
  CHECK(seen.get_param_value("count") == "20");
  CHECK(seen.get_param_value("q").size() == 400);
  seen = {};
  CHECK(fault(ask("searxng", server, " \n ")) == "0 hits");
  CHECK(seen.path.empty());
}

TEST_CASE("web engines' hits are read") {
  const Key serper("SERPER_API_KEY", "k"), brave("BRAVE_API_KEY", "k");
  const SearchHit google =
      taken("serper", R"({"organic": [{"title": "T", "link": "http://a", "snippet": "s"}]})").hits.at(0);
  CHECK(google.title == "T");
  CHECK(google.url == "http://a");
  CHECK(google.text == "s");
  CHECK(taken("brave", R"({"web": {"results": [{"title": "T", "url": "u", "description": "d"}]}})").hits.at(0).text ==
        "d");
  CHECK(fault(taken("brave", R"({"query": {}})")) == "0 hits");
  CHECK(taken("searxng",
              R"({"results": [{"title": "T", "url": "u", "content": "c"}], "unresponsive_engines": [["x", "y"]]})")
            .hits.at(0)
            .text == "c");
  CHECK(fault(taken("searxng", R"({"results": []})")) == "0 hits");
  const SearchReply silent = taken("searxng", R"({"results": [], "unresponsive_engines": [["google", "captcha"]]})");
  CHECK(fault(silent) == "unavailable");
  CHECK_THAT(message(silent), Contains("google") && Contains("captcha"));
  CHECK(fault(taken("searxng", R"({"results": {"a": 1}})")) == "failed");
  CHECK(fault(taken("serper", R"({"organic": [1, null, "x"]})")) == "3 hits");
  for (const char* engine : {"searxng", "serper", "brave"})
    CHECK(fault(taken(engine, R"({"error": "no such thing"})")) == "failed");
  CHECK(fault(taken("serper", R"({"searchParameters": {"q": "x"}})")) == "0 hits");
  CHECK(fault(taken("brave", R"({"type": "search", "query": {"original": "x"}})")) == "0 hits");
}

TEST_CASE("servers that refuse are told apart") {
  const SearchReply forbidden = taken("searxng", "<h1>Forbidden</h1>", 403, "text/html");
  CHECK(fault(forbidden) == "failed");
  CHECK_THAT(message(forbidden), Contains("403") && Contains("settings.yml"));
  const SearchReply html = taken("retrieve", "<!doctype html>\n<html><body>Log in \x01</body>", 200, "text/html");
  CHECK(fault(html) == "failed");
  CHECK_THAT(message(html), Contains("HTML, not JSON") && Contains("<!doctype html> <html><body>Log in"));
  CHECK_THAT(message(taken("retrieve", "{\"result\": [[", 200)), Contains("text, not JSON"));
  CHECK(fault(taken("retrieve", "oops", 500)) == "unavailable");
  CHECK(fault(taken("retrieve", "{\"detail\": \"no\"}", 422)) == "failed");
  CHECK_THAT(message(taken("retrieve", "", 302)), Contains("Redirects are not followed"));
  CHECK(fault(taken("retrieve", std::string(100'000, '['))) == "failed");
  const FakeServer busy([](const Request&, Response& response) {
    response.status = 429;
    response.set_header("Retry-After", "7");
  });
  const SearchReply wait = ask("retrieve", busy);
  CHECK(fault(wait) == "unavailable");
  CHECK(wait.failure->retry_after == 7);
}

TEST_CASE("keys are in no message and no identity") {
  const Key key("SERPER_API_KEY", "secret-key-1");
  const FakeServer server([](const Request& request, Response& response) {
    response.status = 401;
    response.set_content("bad key " + request.get_header_value("X-API-KEY"), "text/plain");
  });
  const auto engine = make_web_search({.engine = "serper", .url = server.url()});
  const SearchReply reply = engine->search("x", 1, 5);
  CHECK_THAT(message(reply), Contains("bad key <key>") && Contains("SERPER_API_KEY") && !Contains("secret-key-1"));
  CHECK_THAT(engine->identity().dump(), !Contains("secret-key-1"));
  CHECK(net::public_url("https://user:pass@host:8/path?key=1#x") == "https://host:8/path");
  CHECK(net::public_url("user:pass@host:8/path") == "host:8/path");
  CHECK(net::public_url("http://user:pa/ss@host/x") == "http://host/x");
  ::setenv("SERPER_API_KEY", "two\nlines", 1);
  CHECK_THROWS_WITH(make_web_search({.engine = "serper"}), Contains("SERPER_API_KEY") && !Contains("lines"));
  ::unsetenv("SERPER_API_KEY");
  CHECK_THROWS_WITH(make_web_search({.engine = "serper"}), Contains("no key") && Contains("SERPER_API_KEY"));
  CHECK_THROWS_WITH(make_web_search({.engine = "serpr"}), Contains("Did you mean 'serper'?"));
  CHECK_THROWS_WITH(make_web_search({.engine = "retrieve"}), Contains("no URL"));
  CHECK_THROWS_WITH(make_web_search({.engine = "retrieve", .url = "file:///etc/passwd"}), Contains("http://"));
}

TEST_CASE("a key that is a part of its replacement, or of other words, ends and is hidden") {
  for (const char* key : {"key", "k", "<key>", "<", "e", "ke"}) {
    CAPTURE(key);
    const Key variable("SERPER_API_KEY", key);
    const FakeServer server([](const Request& request, Response& response) {
      response.status = 403;
      response.set_content("no: (" + request.get_header_value("X-API-KEY") + ")", "text/plain");
    });
    const std::string said = message(ask("serper", server));
    CHECK_THAT(said, Contains("(<key>)") && Contains("Is the key in SERPER_API_KEY right?"));
    CHECK(said.size() < 300);
    // A hit may contain so short a key by chance.
    const FakeServer hits(says(R"({"organic": [{"title": "the key <key>", "link": "x", "snippet": "ke"}]})"));
    const SearchReply reply = ask("serper", hits);
    REQUIRE(reply.hits.size() == 1);
    CHECK(reply.hits[0].title == "the key <key>");
  }
}

TEST_CASE("a key is hidden in every form in which a server may echo it") {
  const std::string key = "s3cr/t+\"&'<key>=\\%~end";
  const net::Redactor secret(key);
  std::string json = nlohmann::json(key).dump();
  for (const std::string& echoed :
       {key, net::url_encode(key), std::string("s3cr%2ft%2b%22%26%27%3ckey%3e%3d%5c%25~end"),
        json.substr(1, json.size() - 2), std::string("s3cr/t+&quot;&amp;&#39;&lt;key&gt;=\\%~end")}) {
    CAPTURE(echoed);
    CHECK_THAT(secret.redacted("at " + echoed + " it was"),
               Catch::StartsWith("at <key>") && Catch::EndsWith(" it was") && !Contains("end") && !Contains("s3cr"));
    const Key variable("SERPER_API_KEY", key);
    for (const int status : {200, 401, 500}) {
      const std::string said = message(taken("serper", "no: " + echoed, status, "text/plain"));
      CHECK_THAT(said, Contains("no: <key>") && !Contains("s3cr"));
      CHECK_THAT(message(taken("serper", nlohmann::json{{"error", echoed}}.dump(), status)),
                 Contains("<key>") && !Contains("s3cr"));
    }
  }
  CHECK(net::Redactor("secret-key-12345").redacted("Basic c2VjcmV0LWtleS0xMjM0NQ;") == "Basic <key>;");
  CHECK(secret.redacted("another") == "another");
  CHECK(net::Redactor("").redacted("anything") == "anything");
}

TEST_CASE("a key is hidden before a message is cut, and in hits") {
  const std::string key = "0123456789abcdef0123456789abcdef";
  const Key variable("SERPER_API_KEY", key);
  for (std::size_t before = 0; before < 220; before += 7) {
    const std::string padding(before, '-');
    CHECK_THAT(message(taken("serper", padding + key, 401)), !Contains("01234"));
    CHECK_THAT(message(taken("serper", nlohmann::json{{padding, key}}.dump())), !Contains("01234"));
    CHECK_THAT(message(taken("serper", nlohmann::json{{padding + key, 1}}.dump())), !Contains("01234"));
  }
  const SearchReply reply = taken("serper", R"({"organic": [{"title": "T", "link": "http://x/?k=)" + key +
                                                R"(", "snippet": "of )" + key + R"("}]})");
  REQUIRE(reply.hits.size() == 1);
  CHECK(reply.hits[0].url == "http://x/?k=<key>");
  CHECK(reply.hits[0].text == "of <key>");
}

TEST_CASE("a redirect to another protocol is not followed") {
  const FakeServer server([](const Request&, Response& response) { response.set_redirect("file:///etc/passwd"); });
  const net::HttpReply reply = net::http_request({server.url("/x"), {}, {}});
  CHECK(reply.status == 302);
  CHECK(reply.body.find("root:") == std::string::npos);
  CHECK_THAT(net::http_request({"file:///etc/passwd", {}, {}}).fault, Contains("rotocol"));
}

TEST_CASE("servers that are down, slow or never end are given up") {
  std::string gone;
  {
    const FakeServer server(says("{}"));
    gone = server.url();
  }
  const SearchReply refused = make_web_search({.engine = "retrieve", .url = gone})->search("x", 1, 5);
  CHECK(fault(refused) == "unavailable");
  CHECK_THAT(message(refused), Contains(gone) && Contains("onnect"));
  const FakeServer slow([](const Request&, Response& response) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    response.set_content("{}", "application/json");
  });
  const auto start = std::chrono::steady_clock::now();
  CHECK(fault(ask("retrieve", slow, "x", 1, 0.1)) == "timeout");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500));
  const FakeServer huge([](const Request&, Response& response) {
    response.set_content_provider("application/json", [](std::size_t, httplib::DataSink& sink) {
      const std::string block(1 << 16, ' ');
      return sink.write(block.data(), block.size());
    });
  });
  const FakeServer broken([](const Request&, Response& response) {
    response.set_content_provider(
        100, "application/json",
        [](std::size_t offset, std::size_t, httplib::DataSink& sink) { return offset == 0 && sink.write("half", 4); });
  });
  CHECK(fault(ask("retrieve", broken)) == "unavailable");
  const SearchReply reply = ask("retrieve", huge);
  CHECK(fault(reply) == "failed");
  CHECK_THAT(message(reply), Contains("larger than 8388608 bytes"));
}

TEST_CASE("a search tool waits as the server asks, and asks again") {
  std::atomic<int> asked = 0;
  const FakeServer flaky([&](const Request&, Response& response) {
    response.set_content(R"({"result": [[{"contents": "\"A\"\nfound it"}]]})", "application/json");
    if (asked++ > 0) return;
    response.status = 503;
    response.set_header("Retry-After", "1");
  });
  std::vector<ToolRecord> records;
  ToolSet tools({make_search_tool(make_web_search({.engine = "retrieve", .url = flaky.url()}))},
                {.backoff_seconds = 0.01, .on_attempt = [&](const ToolRecord& record) { records.push_back(record); }});
  const ToolResult result = tools.call({"", "search", {{"query", "x"}}});
  REQUIRE_FALSE(result.error);
  CHECK(result.parts.at(0).text == "Doc 1(Title: A) found it\n");
  REQUIRE(records.size() == 2);
  CHECK(records[0].result.error->fault == ToolFault::unavailable);
  CHECK(records[1].started - records[0].started >= 0.99);
  CHECK(records[1].result.bytes > 0);
}

TEST_CASE("searches are recorded and replayed") {
  const TempFolder folder;
  const auto file = folder / "searches.sqlite";
  std::atomic<int> asked = 0, status = 200;
  const FakeServer server([&](const Request&, Response& response) {
    ++asked;
    response.status = status;
    response.set_content(
        R"({"result": [[{"document": {"id": "1", "contents": "\"A\"\nb\u0000\u00e9"}, "score": 0.1}]]})",
        "application/json");
  });
  {
    const auto recorded = open_search({server.url(), {}, file, CacheMode::record});
    const SearchReply first = recorded->search("who  is\n she", 3, 5);
    CHECK(fault(first) == "1 hits");
    CHECK(fault(recorded->search(" who is she ", 3, 5)) == "1 hits");
    CHECK(asked == 1);
    CHECK(fault(recorded->search("who is she", 4, 5)) == "1 hits");
    CHECK(asked == 2);
    status = 500;
    CHECK(fault(recorded->search("failures are not kept", 3, 5)) == "unavailable");
    status = 200;
    CHECK(fault(recorded->search("failures are not kept", 3, 5)) == "1 hits");
  }
  const int before = asked;
  const auto replayed = open_search({server.url(), {}, file, CacheMode::replay});
  const SearchReply again = replayed->search("who is she", 3, 5);
  REQUIRE(again.hits.size() == 1);
  CHECK(again.hits[0].text == std::string("b\0é", 4));
  CHECK(again.hits[0].score == 0.1);
  CHECK(fault(replayed->search("who is he", 3, 5)) == "offline_miss");
  CHECK(fault(replayed->search("who is she", 5, 5)) == "offline_miss");
  CHECK(asked == before);
  const auto other = open_search({server.url("/other"), {}, file, CacheMode::replay});
  CHECK(fault(other->search("who is she", 3, 5)) == "offline_miss");  // recorded for another engine
  CHECK(fault(open_search({"serper", {}, file, CacheMode::replay})->search("x", 3, 5)) ==
        "offline_miss");  // works without a key
  CHECK_THROWS_WITH(open_search({server.url(), {}, folder / "no", CacheMode::replay}),
                    Contains("no such search cache"));
  CHECK_THROWS_WITH(open_search({server.url(), {}, folder.path(), CacheMode::record}), Contains("cannot be opened"));
  CHECK_THROWS_WITH(open_search({folder / "no"}), Contains("no such index"));
}

TEST_CASE("an offline miss is not asked again, and ends no episode") {
  const TempFolder folder;
  make_cached_search(make_web_search({.engine = "retrieve", .url = "http://127.0.0.1:1"}), folder / "c",
                     CacheMode::record);
  int attempts = 0;
  ToolSet tools({make_search_tool(open_search({"http://127.0.0.1:1", {}, folder / "c", CacheMode::replay}))},
                {.on_attempt = [&](const ToolRecord&) { ++attempts; }});
  const ToolResult result = tools.call({"", "search", {{"query", "x"}}});
  CHECK(result.error->fault == ToolFault::offline_miss);
  CHECK(attempts == 1);
}

TEST_CASE("a policy reads documents a line each") {
  CHECK(information_of({}) == "No document matches the query.");
  const std::vector<SearchHit> hits = {{"1", "A\nB", "line one\nline two", "snip", "", 1.0},
                                       {"2", "", std::string(3000, 'x'), "s", "", {}}};
  CHECK(information_of(hits, {.most_bytes = 20}) ==
        "Doc 1(Title: A B) line one line two\nDoc 2(Title: ) xxxxxxxxxxxxxxxxxxxx...\n");
  CHECK(information_of(hits, {.snippets = true}) == "Doc 1(Title: A B) snip\nDoc 2(Title: ) s\n");
  ToolSet tools({make_search_tool(make_web_search({.engine = "retrieve", .url = "http://127.0.0.1:1"}))}, {});
  CHECK(tools.call({"", "search", {{"query", "x"}, {"top_k", 11}}}).error->message ==
        "top_k is 11, but the schema wants maximum 10.");
}
