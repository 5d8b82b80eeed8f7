#include "net/retry.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "soon.h"

using namespace agon;
using namespace agon::net;
using namespace agon::test;
using Catch::Contains;

namespace {

using Response = httplib::Response;

constexpr RetryOptions kQuick{.attempts = 3, .backoff_seconds = 0.01, .seconds = 20};

// A server on the loopback that answers the first request with `first` and the others with `later`, and counts them.
class CountingServer {
 public:
  using Answer = std::function<void(Response&)>;
  explicit CountingServer(Answer first) : CountingServer(first, first) {}
  CountingServer(Answer first, Answer later) {
    server_.Get("/", [this, first = std::move(first), later = std::move(later)](const auto&, Response& response) {
      (asked_++ == 0 ? first : later)(response);
    });
    server_.set_keep_alive_max_count(1);  // else an idle connection would delay the end
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~CountingServer() { server_.stop(); }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/", port_); }
  int asked() const { return asked_; }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::atomic<int> asked_ = 0;
  std::jthread thread_;
};

CountingServer::Answer says(int status, std::string retry_after = {}) {
  return [status, retry_after = std::move(retry_after)](Response& response) {
    response.status = status;
    response.set_content(fmt::format("status {}", status), "text/plain");
    if (!retry_after.empty()) response.set_header("Retry-After", retry_after);
  };
}

std::string date_in(int seconds) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(std::time(nullptr) + seconds));
}

HttpReply ask(const CountingServer& server, const RetryOptions& options = kQuick, double seconds = 10) {
  return request_with_retries({server.url(), {}, {}, seconds}, options);
}

}  // namespace

TEST_CASE("429 and faults of a server are tried again, other statuses are final") {
  for (const int status : {429, 500, 502, 503, 504}) {
    CAPTURE(status);
    const CountingServer once(says(status), says(200));
    CHECK(ask(once).status == 200);
    CHECK(once.asked() == 2);
    const CountingServer always(says(status));
    const HttpReply last = ask(always);
    CHECK(last.status == status);
    CHECK(last.body == fmt::format("status {}", status));
    CHECK(always.asked() == 3);
  }
  for (const int status : {200, 204, 302, 400, 401, 403, 404, 422}) {
    CAPTURE(status);
    const CountingServer server(says(status, "1"));
    CHECK(ask(server).status == status);
    CHECK(server.asked() == 1);
  }
  const CountingServer single(says(503));
  CHECK(ask(single, {.attempts = 1}).status == 503);
  CHECK(single.asked() == 1);
}

TEST_CASE("no answer, half an answer and a late one are tried again, one that is too large is not") {
  const CountingServer broken(
      [](Response& response) {
        response.set_content_provider(100, "text/plain", [](std::size_t offset, std::size_t, httplib::DataSink& sink) {
          return offset == 0 && sink.write("half", 4);
        });
      },
      says(200));
  CHECK(ask(broken).body == "status 200");
  CHECK(broken.asked() == 2);
  const CountingServer late([](Response&) { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }, says(200));
  CHECK(ask(late, kQuick, 0.2).status == 200);
  CHECK(late.asked() == 2);
  const CountingServer large([](Response& response) { response.set_content(std::string(2000, 'x'), "text/plain"); });
  const HttpReply reply = request_with_retries({large.url(), {}, {}, 10, 1000}, kQuick);
  CHECK(reply.too_large);
  CHECK_THAT(reply.fault, Contains("1000 bytes"));
  CHECK(large.asked() == 1);
  CHECK(worth_another_try(http_request({"http://127.0.0.1:1/", {}, {}})));
}

TEST_CASE("a retry waits as long as Retry-After says, in seconds or until a date") {
  const CountingServer seconds(says(429, "1"), says(200));
  auto start = Clock::now();
  CHECK(ask(seconds).status == 200);
  CHECK(seconds_since(start) >= 1);
  const CountingServer date(says(503, date_in(3)), says(200));  // a date is up to a second less than it says
  start = Clock::now();
  CHECK(ask(date).status == 200);
  CHECK(seconds_since(start) >= 1);
  CHECK(date.asked() == 2);
  const CountingServer hour(says(503, date_in(3600)));
  CHECK(http_request({hour.url(), {}, {}}).retry_after == Approx(3600).margin(30));
}

TEST_CASE("a Retry-After that is past or makes no sense counts as nothing") {
  for (const std::string& absurd :
       {date_in(-3600), std::string("-5"), std::string("soon"), std::string("0"), std::string(30, '9')}) {
    CAPTURE(absurd);
    const CountingServer server(says(429, absurd), says(200));
    const auto start = Clock::now();
    CHECK(ask(server).status == 200);
    CHECK(seconds_since(start) < 5);
    CHECK(server.asked() == 2);
  }
}

TEST_CASE("a wait that does not end in time is not begun") {
  for (const std::string& long_wait : {std::string("30"), std::string("999999999999"), date_in(3600)}) {
    CAPTURE(long_wait);
    const CountingServer server(says(429, long_wait));
    const auto start = Clock::now();
    CHECK(ask(server).status == 429);
    CHECK(seconds_since(start) < 5);
    CHECK(server.asked() == 1);
  }
  const CountingServer server(says(503));
  CHECK(ask(server, {.attempts = 1000, .backoff_seconds = 0.2, .seconds = 0.5}).status == 503);
  CHECK(server.asked() < 20);
}

TEST_CASE("an attempt ends when the time in all does") {
  const CountingServer slow([](Response&) { std::this_thread::sleep_for(std::chrono::seconds(2)); });
  const auto start = Clock::now();
  CHECK(ask(slow, {.attempts = 3, .backoff_seconds = 0.01, .seconds = 0.3}).timed_out);
  CHECK(seconds_since(start) < 1.5);
}

TEST_CASE("a stop ends a wait, and nothing is sent after it") {
  const CountingServer server(says(429, "15"));
  std::atomic<bool> stop = false;
  const HttpStop scope(stop);
  const std::jthread soon([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const auto start = Clock::now();
  CHECK(ask(server).status == 429);
  CHECK(seconds_since(start) < 5);
  CHECK(server.asked() == 1);
}

TEST_CASE("retries number the attempts and draw waits of their stream") {
  Rng rng(7), same(7);
  const double drawn = same.uniform();
  Retries retries({.attempts = 2, .backoff_seconds = 0.1, .seconds = 20}, rng);
  CHECK(retries.attempt() == 0);
  REQUIRE(retries.wait(0.1));
  CHECK(retries.attempt() == 1);
  CHECK(retries.seconds() >= 0.1 + 0.1 * drawn);
  CHECK(retries.seconds_left() <= 19.9);
  CHECK_FALSE(retries.wait(0));
  CHECK(rng() == same());  // no draw if there is no wait
}
