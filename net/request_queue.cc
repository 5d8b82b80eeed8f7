#include "net/request_queue.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "net/retry.h"

namespace agon::net {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct Job {
  RequestQueue::Number number = 0;
  HttpRequest request;
  HttpClient::Done done;
  std::function<HttpClient::Bytes()> new_bytes;
  bool is_cancelled = false;
  int attempt = 0;  // from 0
  Clock::time_point start, sent;
  HttpClient::Number http = 0;  // its number in the client, while it is under way
};
using JobPointer = std::shared_ptr<Job>;

enum class Verdict { final, refused, broken, unreached };

Verdict verdict_of(const HttpReply& reply) {
  if (reply.timed_out || reply.status == 429 || reply.status == 503) return Verdict::refused;
  if (!worth_another_try(reply)) return Verdict::final;
  return reply.status == 0 ? Verdict::unreached : Verdict::broken;
}

HttpReply fault(std::string why) {
  HttpReply reply;
  reply.fault = std::move(why);
  return reply;
}

}  // namespace

class RequestQueue::State : public std::enable_shared_from_this<RequestQueue::State> {
 public:
  State(const QueueOptions& options, HttpClient& client)
      : options_(options),
        client_(client),
        window_(std::clamp(options.first_window, 1, options.most_in_flight)),
        rng_(Rng::derive(options.seed, "request queue")) {}

  Number send(HttpRequest request, HttpClient::Done done, std::function<HttpClient::Bytes()> new_bytes) {
    auto job = std::make_shared<Job>();
    job->request = std::move(request);
    job->done = std::move(done);
    job->new_bytes = std::move(new_bytes);
    job->start = Clock::now();
    Number number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = job->number = ++last_;
      ++figures_.requests;
      ready_.push_back(job);
    }
    pump();
    return number;
  }

  // Ends the jobs for which `is_meant` holds.
  template <typename IsMeant>
  void end(const IsMeant& is_meant, const std::string& why) {
    std::vector<JobPointer> ended;
    std::vector<HttpClient::Number> sent;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(ready_, [&](const JobPointer& job) { return is_meant(*job) && (ended.push_back(job), true); });
      std::erase_if(delayed_,
                    [&](const auto& at) { return is_meant(*at.second) && (ended.push_back(at.second), true); });
      for (const auto& [number, job] : under_way_)
        if (is_meant(*job)) {
          job->is_cancelled = true;
          sent.push_back(job->http);
        }
    }
    for (const HttpClient::Number http : sent) client_.cancel(http);
    for (const JobPointer& job : ended) job->done(fault(why));
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    end([](const Job&) { return true; }, "it was stopped");
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return under_way_.empty() && calls_ == 0; });
  }

  bool is_gone() const {
    const std::lock_guard lock(mutex_);
    return gone_;
  }
  QueueFigures figures() const {
    const std::lock_guard lock(mutex_);
    QueueFigures figures = figures_;
    figures.in_flight = static_cast<int>(under_way_.size());
    return figures;
  }

 private:
  // Sends the jobs that may go now, and schedules its next call for when more may.
  void pump() {
    std::vector<JobPointer> refused;
    {
      const std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      while (!delayed_.empty() && delayed_.begin()->first <= now)
        ready_.push_front(std::move(delayed_.extract(delayed_.begin()).mapped()));
      if (gone_ || closing_) refused.assign(ready_.begin(), ready_.end()), ready_.clear();
      while (!ready_.empty() && now >= held_until_ && static_cast<double>(under_way_.size()) < std::floor(window_)) {
        JobPointer job = std::move(ready_.front());
        ready_.pop_front();
        dispatch(job);
      }
      wake_up_later();
    }
    for (const JobPointer& job : refused) job->done(fault(why_gone()));
  }

  // REQUIRES: mutex_ is held.
  void dispatch(const JobPointer& job) {
    job->sent = Clock::now();
    ++figures_.attempts;
    under_way_.emplace(job->number, job);
    figures_.most_in_flight = std::max(figures_.most_in_flight, static_cast<int>(under_way_.size()));
    job->http = client_.send(
        job->request, [self = shared_from_this(), job](HttpReply reply) { self->finish(job, std::move(reply)); },
        job->new_bytes ? job->new_bytes() : HttpClient::Bytes());
  }

  // REQUIRES: mutex_ is held.
  void wake_up_later() {
    auto next = Clock::time_point::max();
    if (!delayed_.empty()) next = delayed_.begin()->first;
    if (!ready_.empty() && held_until_ > Clock::now()) next = std::min(next, held_until_);
    if (next == Clock::time_point::max() || (next >= wake_at_ && wake_at_ > Clock::now())) return;
    wake_at_ = next;
    client_.call_at(next, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->pump();
    });
  }

  void finish(const JobPointer& job, HttpReply reply) {
    bool is_over = true;
    {
      const std::lock_guard lock(mutex_);
      under_way_.erase(job->number);
      const Verdict verdict = verdict_of(reply);
      note(*job, verdict, reply);
      is_over = closing_ || gone_ || job->is_cancelled || !is_to_be_sent_again(*job, verdict);
      if (is_over)
        ++calls_;
      else
        delay(job, reply.retry_after);
    }
    if (is_over) {
      job->done(std::move(reply));
      const std::lock_guard lock(mutex_);
      --calls_;
    }
    if (is_gone()) end([](const Job&) { return true; }, why_gone());
    pump();
    const std::lock_guard lock(mutex_);
    ended_.notify_all();
  }

  // REQUIRES: mutex_ is held.
  void note(const Job& job, Verdict verdict, const HttpReply& reply) {
    const auto now = Clock::now();
    figures_.refused += verdict == Verdict::refused && !reply.timed_out;
    figures_.timed_out += reply.timed_out;
    if (reply.retry_after > 0) held_until_ = std::max(held_until_, now + seconds_of(reply.retry_after));
    if (verdict == Verdict::final) {
      const bool ever_refused = halved_at_ != Clock::time_point{};
      window_ = std::min(window_ + (ever_refused ? 1 / window_ : 1), static_cast<double>(options_.most_in_flight));
      failing_since_.reset();
      return;
    }
    if (verdict == Verdict::refused && job.sent >= halved_at_) {
      window_ = std::max(1.0, window_ / 2);
      halved_at_ = now;
    }
    if (reply.timed_out) return;  // a slow server is not gone
    if (reply.status != 0) return failing_since_.reset();
    if (!failing_since_) failing_since_ = job.sent;
    gone_ = gone_ || now - *failing_since_ >= seconds_of(options_.gone_seconds);
  }

  // REQUIRES: mutex_ is held.
  bool is_to_be_sent_again(const Job& job, Verdict verdict) const {
    if (verdict == Verdict::final) return false;
    if (verdict == Verdict::broken) return job.attempt + 1 < options_.attempts;
    return Clock::now() - job.start < seconds_of(options_.patience_seconds);
  }

  // REQUIRES: mutex_ is held.
  void delay(const JobPointer& job, double retry_after) {
    const double most = std::min(30.0, options_.backoff_seconds * std::exp2(std::min(job->attempt, 16)));
    ++job->attempt;
    delayed_.emplace(Clock::now() + seconds_of(retry_after + rng_.uniform() * most), job);
  }

  std::string why_gone() const { return fmt::format("no answer from the server for {:g} s", options_.gone_seconds); }

  const QueueOptions options_;
  HttpClient& client_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable ended_;
  std::deque<JobPointer> ready_;
  std::multimap<Clock::time_point, JobPointer> delayed_;
  std::map<Number, JobPointer> under_way_;
  double window_;
  Clock::time_point held_until_{}, halved_at_{}, wake_at_{};
  std::optional<Clock::time_point> failing_since_;  // no answer of any kind came since
  bool gone_ = false, closing_ = false;
  int calls_ = 0;  // of `done`, under way
  Number last_ = 0;
  QueueFigures figures_;
  Rng rng_;
};

RequestQueue::RequestQueue(const QueueOptions& options, HttpClient& client)
    : state_(std::make_shared<State>(options, client)) {}
RequestQueue::~RequestQueue() { state_->close(); }

RequestQueue::Number RequestQueue::send(HttpRequest request, HttpClient::Done done,
                                        std::function<HttpClient::Bytes()> new_bytes) {
  return state_->send(std::move(request), std::move(done), std::move(new_bytes));
}
void RequestQueue::cancel(Number request) {
  state_->end([request](const Job& job) { return job.number == request; }, "it was stopped");
}
bool RequestQueue::is_gone() const { return state_->is_gone(); }
QueueFigures RequestQueue::figures() const { return state_->figures(); }

}  // namespace agon::net
