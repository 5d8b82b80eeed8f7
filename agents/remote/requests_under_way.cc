#include "agents/remote/requests_under_way.h"

#include <chrono>

#include "core/error.h"

namespace agon::agents {
namespace {

constexpr std::chrono::milliseconds kLook(50);

}  // namespace

RequestsUnderWay::~RequestsUnderWay() {
  cancel_all();
  wait_for_end();
}

void RequestsUnderWay::send(const Json& body, StreamEnd end, ChatClient::Done done) {
  {
    const std::lock_guard lock(mutex_);
    ++waiting_;
  }
  const auto number = client_.send(body, std::move(end), [this, done = std::move(done)](ChatOutcome outcome) {
    done(std::move(outcome));
    const std::lock_guard lock(mutex_);
    if (--waiting_ == 0) ended_.notify_one();
  });
  const std::lock_guard lock(mutex_);
  sent_.push_back(number);
}

void RequestsUnderWay::wait() {
  wait_for_end();
  if (stopped_) throw Error("policy: requests to {} were stopped.", client_.endpoint().name());
}

void RequestsUnderWay::wait_for_end() {
  std::unique_lock lock(mutex_);
  while (waiting_ > 0) {
    ended_.wait_for(lock, kLook);
    if (stopped_ || !net::HttpStop::is_set()) continue;
    stopped_ = true;
    lock.unlock();
    cancel_all();
    lock.lock();
  }
}

void RequestsUnderWay::cancel_all() {
  std::vector<net::RequestQueue::Number> sent;
  {
    const std::lock_guard lock(mutex_);
    sent = sent_;
  }
  for (const auto number : sent) client_.cancel(number);
}

}  // namespace agon::agents
