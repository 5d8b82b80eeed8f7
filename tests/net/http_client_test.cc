#include "net/http_client.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

#include "soon.h"
#include "wire/post.h"

using namespace agon;
using namespace agon::net;
using namespace agon::test;
using Catch::Contains;

namespace {

// Sends requests with a client and waits for all replies.
class Waiting {
 public:
  explicit Waiting(HttpClient& client) : client_(client) {}
  HttpClient::Number send(HttpRequest request, HttpClient::Bytes bytes = {}) {
    {
      const std::lock_guard lock(mutex_);
      ++waiting_;
    }
    return client_.send(
        std::move(request),
        [this](HttpReply reply) {
          const std::lock_guard lock(mutex_);
          replies_.push_back(std::move(reply));
          --waiting_;
          ended_.notify_all();
        },
        std::move(bytes));
  }
  std::vector<HttpReply> all() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return waiting_ == 0; });
    return replies_;
  }

 private:
  HttpClient& client_;
  std::mutex mutex_;
  std::condition_variable ended_;
  int waiting_ = 0;
  std::vector<HttpReply> replies_;
};

}  // namespace

TEST_CASE("hundreds of requests are under way at once, each gets its own answer, and connections are used again") {
  const WireServer server([](const WireRequest& request) {
    WireReply reply = http_reply(200, "echo " + request.body);
    reply.before = 0.3;
    return reply;
  });
  HttpClient client;
  const auto start = Clock::now();
  for (int round = 0; round < 2; ++round) {
    Waiting waiting(client);
    for (int i = 0; i < 300; ++i) waiting.send(post_to(server, std::to_string(i)));
    std::set<std::string> bodies;
    for (const HttpReply& reply : waiting.all()) {
      REQUIRE(reply.fault == "");
      REQUIRE(reply.status == 200);
      bodies.insert(reply.body);
    }
    CHECK(bodies.size() == 300);
  }
  CHECK(server.most_at_once() > 200);
  CHECK(server.connections() <= 300);
  CHECK(seconds_since(start) < 10);
}

TEST_CASE("a cancelled request ends at once, its connection is closed, and the others are not touched") {
  const WireServer server([](const WireRequest& request) {
    WireReply reply = http_reply(200, request.body);
    reply.before = request.body == "slow" ? 30 : 0.5;
    return reply;
  });
  HttpClient client;
  Waiting slow(client), quick(client);
  const auto start = Clock::now();
  const HttpClient::Number number = slow.send(post_to(server, "slow", 60));
  quick.send(post_to(server, "quick"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  client.cancel(number);
  client.cancel(number + 1000);  // no such request
  const HttpReply reply = slow.all().at(0);
  CHECK(reply.stopped);
  CHECK(reply.fault == "it was stopped");
  CHECK(quick.all().at(0).body == "quick");
  CHECK(seconds_since(start) < 5);
  for (int i = 0; i < 200 && server.closed_early() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(server.closed_early() == 1);
}

TEST_CASE("the bytes of a stream come as they arrive, and whoever takes them can end it") {
  const WireServer server([](const WireRequest&) {
    WireReply reply = event_reply({"one", "two", "three", "four"});
    reply.between = 0.1;
    return reply;
  });
  HttpClient client;
  for (const bool ends : {false, true}) {
    std::string got;
    int parts = 0;
    Waiting waiting(client);
    waiting.send(post_to(server, ""), [&](std::string_view bytes) {
      got += bytes;
      ++parts;
      return !ends || got.find("two") == std::string::npos;
    });
    const HttpReply reply = waiting.all().at(0);
    CHECK(reply.status == 200);
    CHECK(reply.body == "");
    CHECK(reply.stopped == ends);
    CHECK((reply.fault == "") == !ends);
    CHECK(parts >= (ends ? 2 : 4));
    CHECK((got.find("four") == std::string::npos) == ends);
  }
}

TEST_CASE("the body of a refusal is kept, though a stream was asked for") {
  const WireServer server([](const WireRequest&) { return http_reply(400, "no such model"); });
  HttpClient client;
  Waiting waiting(client);
  waiting.send(post_to(server, ""), [](std::string_view) {
    FAIL_CHECK("not a stream");
    return true;
  });
  const HttpReply reply = waiting.all().at(0);
  CHECK(reply.status == 400);
  CHECK(reply.body == "no such model");
}

TEST_CASE("a connection that the server has closed or reset meanwhile is replaced without a fault") {
  for (const auto end : {WireReply::End::close, WireReply::End::reset}) {
    const WireServer server([end](const WireRequest& request) {
      WireReply reply = http_reply(200, "ok");
      if (request.number == 0) reply.end = end;  // after a complete answer that promises to keep the connection
      return reply;
    });
    HttpClient client;
    for (int i = 0; i < 3; ++i) {
      Waiting waiting(client);
      waiting.send(post_to(server, "x"));
      const HttpReply reply = waiting.all().at(0);
      CHECK(reply.fault == "");
      CHECK(reply.body == "ok");
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

TEST_CASE("faults of a server: half a body, nothing, a reset, a wrong length, a timeout, too much") {
  const auto ask = [](const WireServer::Answer& answer, std::size_t most = 1 << 20, double seconds = 10) {
    const WireServer server(answer);
    HttpRequest request = post_to(server, "x", seconds);
    request.most_bytes = most;
    return http_request(request);
  };
  const auto raw = [](std::string bytes, WireReply::End end) {
    return [bytes, end](const WireRequest&) { return WireReply{{bytes}, end}; };
  };
  CHECK(ask(raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", WireReply::End::close)).fault != "");
  CHECK(ask(raw("", WireReply::End::close)).fault != "");
  CHECK(ask(raw("", WireReply::End::reset)).fault != "");
  CHECK(ask(raw("not HTTP at all\r\n\r\n", WireReply::End::close)).fault != "");
  CHECK(ask([](const WireRequest&) { return event_reply({"a", "b"}, false); }).fault != "");
  const HttpReply late = ask(
      [](const WireRequest&) {
        WireReply reply = http_reply(200, "late");
        reply.before = 20;
        return reply;
      },
      1 << 20, 0.3);
  CHECK(late.timed_out);
  const HttpReply large = ask([](const WireRequest&) { return http_reply(200, std::string(1 << 16, 'x')); }, 1000);
  CHECK(large.too_large);
  CHECK_THAT(large.fault, Contains("larger than 1000 bytes"));
}

TEST_CASE("what is to be called later is called then, in its order, and the end of a client ends its requests") {
  const WireServer server([](const WireRequest&) {
    WireReply reply = http_reply(200, "late");
    reply.before = 30;
    return reply;
  });
  std::vector<int> called;
  std::promise<HttpReply> ended;
  {
    HttpClient client;
    std::promise<void> last;
    const auto now = Clock::now();
    client.call_at(now + std::chrono::milliseconds(200), [&] {
      called.push_back(2);
      last.set_value();
    });
    client.call_at(now + std::chrono::milliseconds(50), [&] { called.push_back(1); });
    last.get_future().wait();
    CHECK(seconds_since(now) >= 0.2);
    client.call_at(now + std::chrono::hours(1), [&] { called.push_back(3); });
    client.send(post_to(server, "x", 60), [&](HttpReply reply) { ended.set_value(std::move(reply)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  CHECK(called == std::vector<int>{1, 2});
  CHECK(ended.get_future().get().stopped);
}
