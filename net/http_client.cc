#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"

namespace agon::net {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kStopped = "it was stopped";

thread_local const std::atomic<bool>* stop_of_thread = nullptr;

// Each request may need a connection, so this process may open as many files as the system allows.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList headers_of(const HttpRequest& request) {
  HeaderList list;
  const auto add = [&list](const char* header) { list.reset(curl_slist_append(list.release(), header)); };
  for (const std::string& header : request.headers) add(header.c_str());
  add("Expect:");  // otherwise curl waits a second before a large body
  return list;
}

struct EndEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Easy = std::unique_ptr<CURL, EndEasy>;

// A request under way. It must not move, because curl has pointers to its members.
struct Transfer {
  HttpClient::Number number = 0;
  HttpRequest request;
  HttpClient::Done done;
  HttpClient::Bytes bytes;
  Easy easy;
  HeaderList headers;
  HttpReply reply;
  std::size_t received = 0;
  bool is_stopped = false;  // by `bytes`
  std::array<char, CURL_ERROR_SIZE> fault{};
};

std::size_t take_bytes(char* data, std::size_t, std::size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.received += size;
  transfer.reply.too_large = transfer.received > transfer.request.most_bytes;
  if (transfer.reply.too_large) return 0;  // ends the transfer
  long status = 0;
  curl_easy_getinfo(transfer.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (transfer.bytes && (status == 200 || status == 206)) {
    transfer.is_stopped = !transfer.bytes({data, size});
    return transfer.is_stopped ? 0 : size;
  }
  transfer.reply.body.append(data, size);
  return size;
}

std::size_t take_header(char* data, std::size_t, std::size_t size, void* context) {
  const std::string_view line(data, size);
  const std::size_t colon = line.find(':');
  if (colon != line.npos)
    static_cast<Transfer*>(context)->reply.headers[to_lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
  return size;
}

void set_options(Transfer& transfer) {
  CURL* const curl = transfer.easy.get();
  const HttpRequest& request = transfer.request;
  const long milliseconds = std::max(1L, static_cast<long>(request.seconds * 1000));
  curl_easy_setopt(curl, CURLOPT_PRIVATE, &transfer);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // another host must not get our headers
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, milliseconds);
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "agon");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer.headers.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer.fault.data());
  if (request.keeps_headers) {
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  }
  if (request.head) curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  if (request.stall_seconds > 0) {
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(request.stall_seconds)));
  }
  if (!request.body) return;
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body->size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body->c_str());
}

void read_info(CURL* curl, HttpReply& reply) {
  long status = 0;
  curl_off_t wait = 0;
  char* type = nullptr;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait);
  curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
  reply.status = static_cast<int>(status);
  reply.retry_after = static_cast<double>(std::max<curl_off_t>(0, wait));
  reply.content_type = type ? type : "";
}

std::string fault_of(const Transfer& transfer, CURLcode code) {
  if (transfer.reply.too_large) return fmt::format("the reply is larger than {} bytes", transfer.request.most_bytes);
  if (code == CURLE_OK) return "";
  if (transfer.reply.stopped) return kStopped;
  return transfer.fault[0] != '\0' ? transfer.fault.data() : curl_easy_strerror(code);
}

struct EndMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

}  // namespace

// Runs curl with its sockets in an epoll set, through curl_multi_socket_action. So the cost of an event does not grow
// with the number of requests under way.
class HttpClient::Thread {
 public:
  Thread() {
    raise_file_limit();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_.reset(curl_multi_init());
    if (!multi_ || !epoll_ || !wake_) throw Error("http: no client can be made: {}.", std::strerror(errno));
    watch(wake_.get(), EPOLLIN, EPOLL_CTL_ADD);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Thread::set_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &Thread::set_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 8192L);  // connections that are kept open
    thread_ = std::jthread([this] { run(); });
  }
  ~Thread() {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wake();
  }

  Number send(HttpRequest request, Done done, Bytes bytes) {
    auto transfer = std::make_unique<Transfer>();
    transfer->request = std::move(request);
    transfer->done = std::move(done);
    transfer->bytes = std::move(bytes);
    const std::lock_guard lock(mutex_);
    const Number number = transfer->number = ++last_;
    arrivals_.push_back(std::move(transfer));
    wake();
    return number;
  }

  void cancel(Number request) {
    const std::lock_guard lock(mutex_);
    cancelled_.push_back(request);
    wake();
  }

  void call_at(Clock::time_point time, std::function<void()> what) {
    const std::lock_guard lock(mutex_);
    later_.emplace(time, std::move(what));
    wake();
  }

 private:
  static int set_socket(CURL*, curl_socket_t socket, int what, void* context, void* known) {
    auto& self = *static_cast<Thread*>(context);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(self.epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
      return 0;
    }
    const auto events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
    self.watch(socket, events, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD);
    curl_multi_assign(self.multi_.get(), socket, &self);  // known from now on
    return 0;
  }

  static int set_timer(CURLM*, long milliseconds, void* context) {
    auto& timer = static_cast<Thread*>(context)->timer_;
    timer = milliseconds < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(milliseconds);
    return 0;
  }

  void watch(int descriptor, std::uint32_t events, int how) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_.get(), how, descriptor, &event);
  }

  // Wakes the client's thread. Before it waits for events, it looks at the inbox, so that most calls need not wake it.
  // REQUIRES: mutex_ is held.
  void wake() {
    if (std::exchange(woken_, true) || std::this_thread::get_id() == thread_.get_id()) return;
    ::eventfd_write(wake_.get(), 1);
  }

  void run() {
    while (take_inbox()) {
      std::array<epoll_event, 256> events{};
      const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), milliseconds_left());
      for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)]);
      if (timer_ <= Clock::now()) act(CURL_SOCKET_TIMEOUT, 0);
      finish_ended();
    }
    while (!transfers_.empty()) finish(*transfers_.begin()->second, CURLE_ABORTED_BY_CALLBACK);
  }

  // Does what other threads asked for. False: the client is closing.
  bool take_inbox() {
    std::vector<std::unique_ptr<Transfer>> arrivals;
    std::vector<Number> cancelled;
    std::vector<std::function<void()>> due;
    bool closing = false;
    {
      const std::lock_guard lock(mutex_);
      arrivals.swap(arrivals_);
      cancelled.swap(cancelled_);
      while (!later_.empty() && later_.begin()->first <= Clock::now())
        due.push_back(std::move(later_.extract(later_.begin()).mapped()));
      closing = closing_;
      woken_ = false;
    }
    for (auto& transfer : arrivals) begin(std::move(transfer));
    for (const Number number : cancelled)
      if (const auto found = transfers_.find(number); found != transfers_.end())
        finish(*found->second, CURLE_ABORTED_BY_CALLBACK);
    for (const auto& what : due) what();
    return !closing;
  }

  void begin(std::unique_ptr<Transfer> owned) {
    Transfer& transfer = *owned;
    transfers_.emplace(transfer.number, std::move(owned));
    transfer.easy = free_.empty() ? Easy(curl_easy_init()) : std::move(free_.back());
    if (!free_.empty()) free_.pop_back();
    transfer.headers = headers_of(transfer.request);
    set_options(transfer);
    const CURLMcode code = curl_multi_add_handle(multi_.get(), transfer.easy.get());
    if (code != CURLM_OK) finish(transfer, CURLE_OUT_OF_MEMORY);
  }

  int milliseconds_left() {
    const std::lock_guard lock(mutex_);
    if (woken_) return 0;
    const auto next = later_.empty() ? timer_ : std::min(timer_, later_.begin()->first);
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void handle(const epoll_event& event) {
    if (event.data.fd == wake_.get()) {
      eventfd_t value = 0;
      ::eventfd_read(wake_.get(), &value);
      return;
    }
    const bool bad = event.events & (EPOLLERR | EPOLLHUP);
    act(event.data.fd, (event.events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                           (event.events & EPOLLOUT ? CURL_CSELECT_OUT : 0) | (bad ? CURL_CSELECT_ERR : 0));
  }

  void act(curl_socket_t socket, int events) {
    if (socket == CURL_SOCKET_TIMEOUT) timer_ = Clock::time_point::max();  // curl sets it again
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, events, &running);
  }

  void finish_ended() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      finish(*transfer, code);
    }
  }

  void finish(Transfer& transfer, CURLcode code) {
    HttpReply& reply = transfer.reply;
    read_info(transfer.easy.get(), reply);
    reply.timed_out = code == CURLE_OPERATION_TIMEDOUT;
    reply.stopped = code == CURLE_ABORTED_BY_CALLBACK || transfer.is_stopped;
    reply.fault = fault_of(transfer, code);
    curl_multi_remove_handle(multi_.get(), transfer.easy.get());
    curl_easy_reset(transfer.easy.get());
    free_.push_back(std::move(transfer.easy));
    const std::unique_ptr<Transfer> owned = std::move(transfers_.extract(transfer.number).mapped());
    owned->done(std::move(owned->reply));
  }

  const Descriptor epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  const Descriptor wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::unordered_map<Number, std::unique_ptr<Transfer>> transfers_;  // transfers handed to curl
  std::vector<Easy> free_;
  Clock::time_point timer_ = Clock::time_point::max();  // when curl wants to act
  std::unique_ptr<CURLM, EndMulti> multi_;              // ends before what its callbacks use

  std::mutex mutex_;  // of all below
  std::vector<std::unique_ptr<Transfer>> arrivals_;
  std::vector<Number> cancelled_;
  std::multimap<Clock::time_point, std::function<void()>> later_;
  Number last_ = 0;
  bool closing_ = false;
  bool woken_ = false;  // since the thread last looked

  std::jthread thread_;  // ends first
};

HttpClient::HttpClient() : thread_(std::make_unique<Thread>()) {}
HttpClient::~HttpClient() = default;

HttpClient& HttpClient::shared() {
  static HttpClient client;
  return client;
}

HttpClient::Number HttpClient::send(HttpRequest request, Done done, Bytes bytes) {
  return thread_->send(std::move(request), std::move(done), std::move(bytes));
}
void HttpClient::cancel(Number request) { thread_->cancel(request); }
void HttpClient::call_at(Clock::time_point time, std::function<void()> what) {
  thread_->call_at(time, std::move(what));
}

HttpReply http_request(const HttpRequest& request, HttpClient::Bytes bytes) {
  constexpr std::chrono::milliseconds kLook(20);
  std::mutex mutex;
  std::condition_variable ended;
  std::optional<HttpReply> reply;
  const HttpClient::Number number = HttpClient::shared().send(
      request,
      [&](HttpReply got) {
        const std::lock_guard lock(mutex);
        reply = std::move(got);
        ended.notify_one();  // under the lock: the waiting thread may then destroy these variables
      },
      std::move(bytes));
  std::unique_lock lock(mutex);
  const auto is_ended = [&] { return reply.has_value(); };
  while (stop_of_thread && !HttpStop::is_set() && !ended.wait_for(lock, kLook, is_ended)) {
  }
  if (!reply && HttpStop::is_set()) HttpClient::shared().cancel(number);
  ended.wait(lock, is_ended);
  return std::move(*reply);
}

HttpStop::HttpStop(const std::atomic<bool>& stop) { stop_of_thread = &stop; }
HttpStop::~HttpStop() { stop_of_thread = nullptr; }
bool HttpStop::is_set() { return stop_of_thread && *stop_of_thread; }

}  // namespace agon::net
