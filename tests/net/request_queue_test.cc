#include "net/request_queue.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <map>
#include <mutex>

#include "core/rng.h"
#include "soon.h"
#include "wire/post.h"

using namespace agon;
using namespace agon::net;
using namespace agon::test;
using Catch::Contains;

namespace {

const QueueOptions kQuickQueue{.most_in_flight = 64, .first_window = 16, .attempts = 3, .backoff_seconds = 0.02};

// Replies by the name of the request, and counts the requests of each name.
class Replies {
 public:
  RequestQueue::Number send(RequestQueue& queue, HttpRequest request, const std::string& name) {
    {
      const std::lock_guard lock(mutex_);
      ++waiting_;
    }
    return queue.send(std::move(request), [this, name](HttpReply reply) {
      const std::lock_guard lock(mutex_);
      replies_[name].push_back(std::move(reply));
      --waiting_;
      ended_.notify_all();
    });
  }
  const std::map<std::string, std::vector<HttpReply>>& all() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return waiting_ == 0; });
    return replies_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int waiting_ = 0;
  std::map<std::string, std::vector<HttpReply>> replies_;
};

}  // namespace

TEST_CASE("a server that takes eight at a time gets about eight, and every request through") {
  std::atomic<int> inside = 0;
  const WireServer server([&](const WireRequest& request) {
    if (++inside > 8) {
      --inside;
      return http_reply(429, "too many");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    --inside;
    return http_reply(200, request.body);
  });
  Replies replies;
  RequestQueue queue(kQuickQueue);
  for (int i = 0; i < 400; ++i) replies.send(queue, post_to(server, std::to_string(i)), std::to_string(i));
  for (const auto& [name, got] : replies.all()) {
    REQUIRE(got.size() == 1);
    REQUIRE(got[0].status == 200);
    REQUIRE(got[0].body == name);
  }
  const QueueFigures figures = queue.figures();
  CHECK(figures.requests == 400);
  CHECK(figures.attempts == 400 + figures.refused);
  CHECK(figures.refused < 400);
  CHECK(figures.in_flight == 0);
}

TEST_CASE("the window doubles until the first refusal") {
  const WireServer server([](const WireRequest&) {
    WireReply reply = http_reply(200, "ok");
    reply.before = 0.02;
    return reply;
  });
  Replies replies;
  QueueOptions options = kQuickQueue;
  options.first_window = 1;
  options.most_in_flight = 32;
  RequestQueue queue(options);
  for (int i = 0; i < 100; ++i) replies.send(queue, post_to(server, "x"), std::to_string(i));
  replies.all();
  CHECK(queue.figures().most_in_flight == 32);  // after 31 answers; with one more a window, after 500
}

TEST_CASE("Retry-After holds all requests back, not the refused one alone") {
  std::atomic<int> early = 0;
  Clock::time_point refused{};
  const WireServer server([&](const WireRequest& request) {
    if (request.number == 0) {
      refused = Clock::now();
      return http_reply(429, "later", "Retry-After: 1\r\n");
    }
    if (seconds_since(refused) < 0.95) ++early;
    return http_reply(200, "ok");
  });
  Replies replies;
  QueueOptions options = kQuickQueue;
  options.first_window = 1;
  RequestQueue queue(options);
  for (int i = 0; i < 5; ++i) replies.send(queue, post_to(server, "x"), std::to_string(i));
  for (const auto& [name, got] : replies.all()) CHECK(got.at(0).status == 200);
  CHECK(early == 0);
  CHECK(queue.figures().refused == 1);
}

TEST_CASE("a fault of the server is tried again a few times, a refusal of the request is not") {
  for (const auto& [status, sent] : std::map<int, int>{{500, 3}, {502, 3}, {400, 1}, {404, 1}, {422, 1}}) {
    CAPTURE(status);
    const WireServer server([status = status](const WireRequest&) { return http_reply(status, "no"); });
    Replies replies;
    RequestQueue queue(kQuickQueue);
    replies.send(queue, post_to(server, "x"), "one");
    CHECK(replies.all().at("one").at(0).status == status);
    CHECK(server.requests() == sent);
  }
}

TEST_CASE("a server that is gone ends what waits, and what comes later") {
  int port = 0;
  {
    const WireServer server([](const WireRequest&) { return http_reply(200, "ok"); });
    port = server.port();
  }
  QueueOptions options = kQuickQueue;
  options.gone_seconds = 0.5;
  RequestQueue queue(options);
  Replies replies;
  const auto start = Clock::now();
  const HttpRequest request{fmt::format("http://127.0.0.1:{}/x", port), {}, "x", 5};
  for (int i = 0; i < 100; ++i) replies.send(queue, request, std::to_string(i));
  CHECK(replies.all().size() == 100);
  CHECK(queue.is_gone());
  CHECK(seconds_since(start) >= 0.4);
  CHECK(seconds_since(start) < 10);
  const auto later = Clock::now();
  replies.send(queue, request, "later");
  CHECK(replies.all().at("later").at(0).fault != "");
  CHECK(seconds_since(later) < 0.5);
}

TEST_CASE("a server that comes back in time is not gone") {
  std::unique_ptr<WireServer> server;
  std::atomic<bool> is_up = false;
  const WireServer flaky([&](const WireRequest&) {
    return is_up ? http_reply(200, "ok") : WireReply{{}, WireReply::End::reset};
  });
  QueueOptions options = kQuickQueue;
  options.gone_seconds = 20;
  RequestQueue queue(options);
  Replies replies;
  for (int i = 0; i < 20; ++i) replies.send(queue, post_to(flaky, "x"), std::to_string(i));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  is_up = true;
  for (const auto& [name, got] : replies.all()) CHECK(got.at(0).status == 200);
  CHECK(!queue.is_gone());
}

TEST_CASE("a server that is slow is not gone: what timed out is sent again") {
  const WireServer server([](const WireRequest& request) {
    WireReply reply = http_reply(200, "ok");
    reply.before = request.number < 2 ? 20 : 0;
    return reply;
  });
  QueueOptions options = kQuickQueue;
  options.gone_seconds = 0.1;
  RequestQueue queue(options);
  Replies replies;
  replies.send(queue, post_to(server, "x", 0.4), "one");
  CHECK(replies.all().at("one").at(0).body == "ok");
  CHECK(queue.figures().timed_out == 2);
  CHECK(!queue.is_gone());
}

TEST_CASE("requests that wait or are under way can be cancelled, and end with their queue") {
  const WireServer server([](const WireRequest&) {
    WireReply reply = http_reply(200, "late");
    reply.before = 30;
    return reply;
  });
  Replies replies;
  const auto start = Clock::now();
  {
    QueueOptions options = kQuickQueue;
    options.first_window = options.most_in_flight = 1;
    RequestQueue queue(options);
    const auto under_way = replies.send(queue, post_to(server, "x", 60), "under way");
    const auto waiting = replies.send(queue, post_to(server, "x", 60), "waiting");
    replies.send(queue, post_to(server, "x", 60), "next");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    queue.cancel(waiting);
    queue.cancel(under_way);
    for (int i = 0; i < 300 && server.requests() < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(server.requests() == 2);
  }
  for (const auto& [name, got] : replies.all()) {
    CAPTURE(name);
    REQUIRE(got.size() == 1);
    CHECK(got[0].fault == "it was stopped");
  }
  CHECK(seconds_since(start) < 10);
}

TEST_CASE("two thousand requests to a server with every fault: none is lost and none is doubled") {
  std::mutex mutex;
  Rng rng = Rng::derive(3, "faults");
  std::map<std::string, int> tries;
  const WireServer server([&](const WireRequest& request) {
    const std::lock_guard lock(mutex);
    if (++tries[request.body] > 2) return http_reply(200, request.body);
    switch (rng.between(0, 11)) {
      case 0:
        return http_reply(429, "later", "Retry-After: 0\r\n");
      case 1:
        return http_reply(503, "<html>busy</html>");
      case 2:
        return http_reply(500, "fault");
      case 3:
        return WireReply{{"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"}, WireReply::End::close};
      case 4:
        return WireReply{{}, WireReply::End::reset};
      case 5:
        return WireReply{{"garbage\r\n\r\n"}, WireReply::End::close};
      default:
        return http_reply(200, request.body);
    }
  });
  QueueOptions options = kQuickQueue;
  options.attempts = 4;
  options.most_in_flight = 128;
  RequestQueue queue(options);
  Replies replies;
  for (int i = 0; i < 2000; ++i) replies.send(queue, post_to(server, std::to_string(i)), std::to_string(i));
  CHECK(replies.all().size() == 2000);
  for (const auto& [name, got] : replies.all()) {
    CAPTURE(name);
    REQUIRE(got.size() == 1);
    REQUIRE(got[0].fault == "");
    REQUIRE(got[0].body == name);
  }
}
