// agents/remote/requests_under_way.h - sends the requests of one call of a policy and waits until all have ended.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "agents/remote/chat_client.h"

namespace agon::agents {

// Thread-safe.
class RequestsUnderWay {
 public:
  explicit RequestsUnderWay(ChatClient& client) : client_(client) {}
  ~RequestsUnderWay();  // cancels unfinished requests and waits for their end

  // `done` is called as in ChatClient::send. It may send more requests.
  void send(const Json& body, StreamEnd end, ChatClient::Done done);
  // Waits until all requests have ended. Throws Error if they were stopped (net::HttpStop).
  void wait();

 private:
  void wait_for_end();
  void cancel_all();

  ChatClient& client_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable ended_;
  int waiting_ = 0;
  bool stopped_ = false;
  std::vector<net::RequestQueue::Number> sent_;
};

}  // namespace agon::agents
