// agents/remote/requests_under_way.h - the requests of one call of a policy: sends them, and waits for all of them.
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
  ~RequestsUnderWay();  // cancels what is under way, and waits for its end

  // `done` is called as that of ChatClient::send; it may send more.
  void send(const Json& body, StreamEnd end, ChatClient::Done done);
  // Until all have ended. Throws Error where they were stopped (net::HttpStop).
  void wait();

 private:
  void wait_for_end();
  void cancel_all();

  ChatClient& client_;
  std::mutex mutex_;  // of all below
  std::condition_variable ended_;
  int waiting_ = 0;
  bool stopped_ = false;
  std::vector<net::RequestQueue::Number> sent_;
};

}  // namespace agon::agents
