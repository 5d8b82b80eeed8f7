// Answers in pieces, keys, and the queue. tests/tools/search/retrieve_server_test.cc tests the limits of a server.
#include "net/http_server.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "soon.h"
#include "wire/client.h"

using namespace agon;
using namespace agon::net;
using namespace agon::test;
using Catch::Contains;

namespace {

struct Running {
  Running(HttpServerOptions options, std::vector<HttpRoute> routes)
      : server(at_any_port(std::move(options)), std::move(routes)), thread([this] { server.run(stop); }) {}
  ~Running() {
    stop = true;
    thread.join();
  }
  static HttpServerOptions at_any_port(HttpServerOptions options) {
    options.port = 0;
    return options;
  }
  int port() const { return server.port(); }
  std::atomic<bool> stop = false;
  HttpServer server;
  std::thread thread;
};

HttpRoute in_pieces(std::function<void(const HttpServerRequest&)> work) {
  HttpRoute route{"POST", "/pieces", false, [work = std::move(work)](const HttpServerRequest& request) {
                    work(request);
                    return HttpServerAnswer{200, "whole", {}};
                  }};
  route.ends_with_client = true;
  return route;
}

std::string ask(const char* version, const char* more = "") {
  return fmt::format("POST /pieces HTTP/{}\r\nHost: x\r\n{}Content-Length: 0\r\n\r\n", version, more);
}

}  // namespace

TEST_CASE("an answer in pieces is chunked, and the connection stays") {
  std::atomic<int> sent = 0;
  const Running running({}, {in_pieces([&](const HttpServerRequest& request) {
                          for (const char* piece : {"one", "", "two"})
                            sent += request.pieces->send(piece, "text/plain");
                        })});
  const WireClient wire(running.port());
  for (int i = 0; i < 2; ++i) {
    wire.say(ask("1.1"));
    const std::string heard = wire.hear("0\r\n\r\n");
    CHECK_THAT(heard, Catch::StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n") &&
                          Contains("Transfer-Encoding: chunked\r\n") && !Contains("close") &&
                          Catch::EndsWith("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
  }
  CHECK(sent == 6);
  wire.say(ask("1.1", "Connection: close\r\n"));
  CHECK_THAT(wire.hear(), Contains("Connection: close") && Catch::EndsWith("0\r\n\r\n|closed"));
}

TEST_CASE("a client of HTTP/1.0 gets pieces as they are, until the end") {
  const Running running({}, {in_pieces([](const HttpServerRequest& request) {
                          for (const char* piece : {"one", "two"}) request.pieces->send(piece, "text/plain");
                        })});
  const WireClient wire(running.port());
  wire.say(ask("1.0"));
  CHECK_THAT(wire.hear(), Catch::EndsWith("\r\n\r\nonetwo|closed") && !Contains("chunked"));
}

TEST_CASE("without a piece the answer is the one that is returned") {
  const Running running({}, {in_pieces([](const HttpServerRequest&) {})});
  const WireClient wire(running.port());
  wire.say(ask("1.1"));
  CHECK_THAT(wire.hear("whole"), Contains("Content-Length: 5"));
}

TEST_CASE("a client that goes, or does not read, ends the pieces") {
  std::atomic<int> ended = 0;
  HttpServerOptions options;
  options.limits.stall_seconds = 0.5;
  const Running running(options, {in_pieces([&](const HttpServerRequest& request) {
                          const std::string much(100'000, 'x');
                          while (request.pieces->send(much, "text/plain")) {
                          }
                          ended += request.stop;
                        })});
  auto gone = std::make_unique<WireClient>(running.port());
  gone->say(ask("1.1"));
  gone->hear("xxx");
  gone.reset();
  const WireClient stalled(running.port());
  stalled.say(ask("1.1"));
  CHECK(comes_soon([&] { return ended == 2; }));
}

TEST_CASE("a client that closes its side has gone where the route says so") {
  std::atomic<bool> seen = false;
  const Running running(
      {},
      {in_pieces([&](const HttpServerRequest& request) { seen = comes_soon([&] { return request.stop.load(); }); })});
  const WireClient wire(running.port());
  wire.say(ask("1.1"));
  wire.say_no_more();
  CHECK_THAT(wire.hear("whole"), Contains("200 OK"));
  CHECK(seen);
}

TEST_CASE("a key is asked for before the body, except where the route is open") {
  HttpServerOptions options;
  options.bearer = "k";
  options.error_body = [](int status, std::string_view) { return fmt::format("refused {}", status); };
  const auto fine = [](const HttpServerRequest&) { return HttpServerAnswer{200, "fine", {}}; };
  HttpRoute open{"GET", "/open", true, fine};
  open.open = true;
  const Running running(options, {open, {"GET", "/shut", true, fine}, {"POST", "/shut", false, fine}});
  const auto said = [&](const std::string& text) {
    const WireClient wire(running.port());
    wire.say(text);
    return wire.hear("e");
  };
  const auto get = [&](const char* path, const char* headers = "") {
    const WireClient wire(running.port());
    wire.say(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}\r\n", path, headers));
    return wire.hear();
  };
  CHECK_THAT(get("/open"), Contains("200 OK"));
  CHECK_THAT(get("/shut"), Contains(" 401 ") && Contains("WWW-Authenticate: Bearer") && Contains("refused 401"));
  CHECK_THAT(get("/none"), Contains(" 401 "));
  CHECK_THAT(get("/shut", "Authorization: Bearer k\r\n"), Contains("200 OK"));
  CHECK_THAT(get("/shut", "Authorization: Bearer kk\r\n"), Contains(" 401 "));
  CHECK_THAT(get("/shut", "Authorization: Basic k\r\n"), Contains(" 401 "));
  CHECK_THAT(said("POST /shut HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"), Contains(" 401 "));
}

TEST_CASE("requests beyond the workers and the queue get 429") {
  std::atomic<bool> open = false;
  HttpServerOptions options{.threads = 1};
  options.limits.waiting = 1;
  const Running running(options, {in_pieces([&](const HttpServerRequest&) {
                          while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                        })});
  const WireClient first(running.port()), second(running.port()), third(running.port());
  first.say(ask("1.1"));
  CHECK(comes_soon([&] { return running.server.load().working == 1; }));
  second.say(ask("1.1"));
  CHECK(comes_soon([&] { return running.server.load().waiting == 1; }));
  third.say(ask("1.1"));
  CHECK_THAT(third.hear("error"), Contains(" 429 ") && Contains("Retry-After: 1"));
  open = true;
  CHECK_THAT(second.hear("whole"), Contains("200 OK"));
}

TEST_CASE("without a queue every worker still has a request") {
  std::atomic<bool> open = false;
  HttpServerOptions options{.threads = 2};
  options.limits.waiting = 0;
  const Running running(options, {in_pieces([&](const HttpServerRequest&) {
                          while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                        })});
  const WireClient first(running.port()), second(running.port()), third(running.port());
  for (const WireClient* wire : {&first, &second}) wire->say(ask("1.1"));
  CHECK(comes_soon([&] { return running.server.load().working == 2; }));
  third.say(ask("1.1"));
  CHECK_THAT(third.hear("error"), Contains(" 429 "));
  open = true;
  CHECK_THAT(first.hear("whole"), Contains("200 OK"));
  CHECK_THAT(second.hear("whole"), Contains("200 OK"));
}

TEST_CASE("a client that goes while it waits leaves the queue") {
  std::atomic<bool> open = false;
  std::atomic<int> worked = 0;
  const Running running({.threads = 1}, {in_pieces([&](const HttpServerRequest&) {
                          ++worked;
                          while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                        })});
  const WireClient first(running.port());
  first.say(ask("1.1"));
  CHECK(comes_soon([&] { return running.server.load().working == 1; }));
  {
    const WireClient second(running.port());
    second.say(ask("1.1"));
    CHECK(comes_soon([&] { return running.server.load().waiting == 1; }));
  }
  CHECK(comes_soon([&] { return running.server.load().waiting == 0; }));
  open = true;
  CHECK_THAT(first.hear("whole"), Contains("200 OK"));
  CHECK(comes_soon([&] { return running.server.load().working == 0; }));
  CHECK(worked == 1);
}

TEST_CASE("pieces that a stop cuts off have no proper end, and what waits is told why") {
  HttpServerOptions options{.threads = 1};
  options.limits.stop_seconds = 0.1;
  auto running =
      std::make_unique<Running>(options, std::vector<HttpRoute>{in_pieces([](const HttpServerRequest& request) {
                                  request.pieces->send("one", "text/plain");
                                  while (!request.stop) std::this_thread::sleep_for(std::chrono::milliseconds(2));
                                  if (request.body == "says") request.pieces->send("why", "text/plain");
                                  if (request.body == "late")
                                    std::this_thread::sleep_for(std::chrono::milliseconds(600));
                                })});
  const char* const body = GENERATE("says", "late");
  const WireClient wire(running->port()), waiting(running->port());
  wire.say(fmt::format("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n{}", body));
  wire.hear("one");
  waiting.say(ask("1.1"));
  running->stop = true;
  const std::string heard = wire.hear();
  if (body == std::string("says"))
    CHECK_THAT(heard, Contains("why") && Contains("\r\n0\r\n\r\n"));
  else
    CHECK_THAT(heard, !Contains("0\r\n\r\n"));
  running.reset();
}

TEST_CASE("paths and methods as clients write them") {
  const auto fine = [](const HttpServerRequest&) { return HttpServerAnswer{200, "fine", {}}; };
  HttpServerOptions options;
  options.limits.body_seconds = 5;
  options.most_request_bytes = 1 << 20;
  const Running running(options, {{"GET", "/a b/\u00e9", true, fine}, {"POST", "/post", true, fine}});
  const auto said = [&](const std::string& line) {
    const WireClient wire(running.port());
    wire.say(fmt::format("{} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", line));
    return wire.hear();
  };
  CHECK_THAT(said("GET /a%20b/%C3%A9?x=%2F"), Contains("200 OK"));
  CHECK_THAT(said("GET http://127.0.0.1:8000/a%20b/%c3%a9"), Contains("200 OK"));
  CHECK_THAT(said("GET /a%2"), Contains(" 404 ") && Contains("/a%2"));
  CHECK_THAT(said("GET /post"), Contains(" 405 ") && Contains("Allow: POST\r\n"));
  CHECK_THAT(said("OPTIONS /post"), Contains(" 405 "));
  CHECK_THAT(said("GET /none"), Contains(" 404 ") && Contains("There is no GET") && Contains("POST /post"));
}

TEST_CASE("an error behind a HEAD has its body") {
  const auto fine = [](const HttpServerRequest&) { return HttpServerAnswer{200, "fine", {}}; };
  HttpServerOptions options;
  options.bearer = "k";
  HttpRoute open{"GET", "/open", true, fine};
  open.open = true;
  const Running running(options, {open, {"POST", "/shut", false, fine}});
  const WireClient wire(running.port());
  wire.say("HEAD /open HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(wire.hear("\r\n\r\n"), Contains("Content-Length: 4") && Catch::EndsWith("\r\n\r\n"));
  wire.say("POST /shut HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nxx");
  CHECK_THAT(wire.hear("}"), Contains(" 401 ") && Contains("{\"error\""));
  const WireClient head(running.port());
  head.say("HEAD /shut HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK_THAT(head.hear(), Contains(" 401 ") && !Contains("{"));
}

TEST_CASE("a client that is refused in the middle of its body may send it to the end") {
  HttpServerOptions options;
  options.bearer = "k";
  const Running running(options, {in_pieces([](const HttpServerRequest&) {})});
  const WireClient wire(running.port());
  wire.say("POST /pieces HTTP/1.1\r\nHost: x\r\nContent-Length: 1500000\r\n\r\n");
  const std::string part(100'000, 'x');
  for (int i = 0; i < 15; ++i) {
    wire.say(part);
    std::this_thread::sleep_for(std::chrono::milliseconds(120));  // longer than a second in all
  }
  CHECK_THAT(wire.hear("}"), Contains(" 401 "));
}
