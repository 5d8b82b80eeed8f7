// Boost.Asio and Beast do the work; this file alone knows them.
#include "net/http_server.h"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/json_text.h"

namespace agon::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr int kBacklog = 1024;                                 // connections that wait for the next look
constexpr auto kLook = std::chrono::milliseconds(20);          // how often deadlines and the wish to stop are looked at
constexpr auto kLastAnswers = std::chrono::milliseconds(200);  // that a server which ends has for them
constexpr auto kPatience = std::chrono::seconds(1);            // a connection that takes longer may be closed
constexpr auto kStall = std::chrono::milliseconds(250);  // so long without a byte moved, where others need the room,
constexpr std::size_t kLeastBytesASecond = 64 << 10;     // or fewer than these
constexpr auto kFarewell = std::chrono::seconds(1);      // for a client to read its last answer
constexpr int kMostTurnedAway = 64;                      // connections at a time that get a 503
constexpr std::size_t kMostHeaderBytes = 16 << 10;
constexpr std::size_t kMostBufferBytes = 128 << 10;  // read ahead
constexpr int kSocketBytes = 256 << 10;              // the kernel's buffer, each way
constexpr int kOtherFiles = 128;                     // descriptors in addition to the connections
constexpr std::size_t kMostUnsent = 256 << 10;       // of an answer in pieces; more waits

Time after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The state of a connection.
enum class State {
  idle,     // between two requests
  reading,  // a request
  working,  // a worker has it
  sending,  // pieces of an answer, while a worker makes them
  writing,  // an answer
  leaving   // the last answer is sent; what still comes is thrown away until the client closes
};

int status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

bool is_http_error(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

// Raises the limit of open files where it does not suffice.
void require_descriptors(int connections, int threads) {
  const auto needed = static_cast<rlim_t>(connections + kMostTurnedAway + threads + kOtherFiles);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
  if (limit.rlim_max < needed)
    throw Error(
        "server: {} connections need {} open files, and {} are allowed. Lower --connections, or raise the limit "
        "(ulimit -n).",
        connections, needed, limit.rlim_max);
  limit.rlim_cur = needed;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// In a time that does not tell how much of them is equal.
bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

// The path of a request's target, which may be a whole address, without what was percent-encoded (RFC 9112, 3.2).
std::string path_of(std::string_view target) {
  if (const std::size_t scheme = target.find("://"); scheme != target.npos && !target.starts_with('/')) {
    const std::size_t slash = target.find('/', scheme + 3);
    target = slash == target.npos ? "/" : target.substr(slash);
  }
  target = target.substr(0, target.find('?'));
  std::string path;
  for (std::size_t i = 0; i < target.size(); ++i) {
    unsigned code = 0;
    const char* const digits = target.data() + i + 1;
    if (target[i] == '%' && i + 2 < target.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
      path += static_cast<char>(code);
      i += 2;
    } else {
      path += target[i];
    }
  }
  return path;
}

bool has_closed_its_side(int socket) {
  pollfd seen{socket, POLLRDHUP, 0};
  return ::poll(&seen, 1, 0) > 0 && (seen.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

// Of an answer in pieces: what the worker and the thread of the connections share.
struct Unsent {
  std::mutex mutex;
  std::condition_variable less;
  std::size_t bytes = 0;
  bool over = false;  // the connection is closed
};

}  // namespace

ByteBudget::Lease::Lease(Lease&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ByteBudget::Lease& ByteBudget::Lease::operator=(Lease&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

ByteBudget::Lease::~Lease() {
  if (budget_) budget_->held_ -= bytes_;
}

bool ByteBudget::Lease::resize(std::size_t bytes) {
  if (!budget_) return true;
  if (bytes <= bytes_) {
    budget_->held_ -= bytes_ - bytes;
    bytes_ = bytes;
    return true;
  }
  const std::size_t more = bytes - bytes_;
  std::size_t held = budget_->held_;
  do {
    if (more > budget_->most_ || held > budget_->most_ - more) {
      ++budget_->refusals_;
      return false;
    }
  } while (!budget_->held_.compare_exchange_weak(held, held + more));
  bytes_ = bytes;
  return true;
}

std::string http_error_body(std::string_view why) { return to_text(SortedJson{{"error", why}}); }

struct HttpServer::Implementation {
  class Connection;
  class Pieces;

  Implementation(const HttpServerOptions& wanted, std::vector<HttpRoute> ways)
      : options(wanted), routes(std::move(ways)), budget(options.limits.most_held_bytes) {
    require_descriptors(options.limits.connections, options.threads);
    try {
      listen();
    } catch (const boost::system::system_error& error) {
      const bool taken = error.code() == boost::system::errc::address_in_use;
      throw Error("{}:{}: cannot listen there: {}. {}Choose another --host or --port.", options.host, options.port,
                  error.code().message(), taken ? "Does another server use it? " : "");
    }
  }

  void listen() {
    const auto address = tcp::resolver(io).resolve(options.host, std::to_string(options.port),
                                                   tcp::resolver::passive | tcp::resolver::numeric_service);
    const tcp::endpoint endpoint = address.begin()->endpoint();
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    // Of a fixed size, or the kernel would hold megabytes for a client that does not read. Connections inherit it.
    acceptor.set_option(asio::socket_base::send_buffer_size(kSocketBytes));
    acceptor.set_option(asio::socket_base::receive_buffer_size(kSocketBytes));
    acceptor.bind(endpoint);
    acceptor.listen(kBacklog);
    port = acceptor.local_endpoint().port();
  }

  void run(const std::atomic<bool>& wish) {
    accept();
    look(wish);
    io.run();
    workers.stop();
    workers.join();
  }

  void accept();
  void take(tcp::socket socket);
  void look(const std::atomic<bool>& wish);
  void close_late_ones(Time now);
  bool close_longest_idle(Time now);
  void close_stalled(Time now);
  void begin_stop();
  std::string error_body(int status, std::string_view why) const {
    return options.error_body ? options.error_body(status, why) : http_error_body(why);
  }

  const HttpServerOptions options;
  const std::vector<HttpRoute> routes;
  ByteBudget budget;
  std::atomic<int> working = 0, waiting = 0;  // requests
  asio::io_context io{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer timer{io}, accept_again{io};
  std::set<std::shared_ptr<Connection>> connections;
  int turned_away = 0;  // of them
  std::size_t seen_refusals = 0;
  std::optional<Time> stop_end;
  int port = 0;
  asio::thread_pool workers{static_cast<std::size_t>(options.threads)};  // last: its requests hold connections
};

// All its functions run on the thread of the connections; while an operation is under way, it holds the connection.
class HttpServer::Implementation::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Implementation& server, tcp::socket socket) : server_(server), socket_(std::move(socket)) {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
  }

  void start() { read_request(); }
  void turn_away() {
    turned_away_ = true;
    refuse(503, "all connections are taken; try again later");
  }
  void close() {
    if (closed_) return;
    closed_ = true;
    nobody_waits();
    error_code ignored;
    socket_.close(ignored);
  }
  // Whoever works on an answer shall end: it may still say why.
  void end_work() {
    stop_ = true;
    leave_queue();
  }
  // The same, and nothing is sent any more.
  void nobody_waits() {
    gone_ = true;
    end_work();
    if (!unsent_) return;
    const std::lock_guard lock(unsent_->mutex);
    unsent_->over = true;
    unsent_->less.notify_all();
  }
  void look_for_client() {
    const bool watched = state_ == State::working || state_ == State::sending;
    if (watched && ends_with_client_ && !stop_ && has_closed_its_side(socket_.native_handle())) nobody_waits();
  }

  // The next piece of an answer, in the form in which it is sent.
  void add_piece(const std::string& bytes, const char* content_type) {
    if (closed_) return;
    if (state_ == State::working) begin_pieces(content_type);
    out_ += bytes;
    write_pieces();
  }
  // Without pieces: the answer is `answer`.
  void end_answer(HttpServerAnswer answer) {
    if (state_ != State::sending) return respond(std::move(answer));
    if (gone_) return close();  // a proper end would pass half an answer off as whole
    no_more_ = true;
    if (chunked_) out_ += "0\r\n\r\n";
    write_pieces();
  }
  // Whatever goes wrong with a connection (no memory) ends that connection.
  template <typename Work>
  void guarded(Work work) {
    if (closed_) return;
    try {
      work();
    } catch (const std::exception&) {
      close();
    }
  }
  bool chunked() const { return chunked_; }
  asio::io_context& io() { return server_.io; }
  const std::shared_ptr<Unsent>& unsent() const { return unsent_; }
  const std::atomic<bool>& stop() const { return stop_; }
  // The request waits for a worker no longer.
  void leave_queue() {
    if (waits_.exchange(false)) --server_.waiting;
  }

  State state() const { return state_; }
  Time since() const { return since_; }  // of the state
  Time deadline() const { return deadline_; }
  bool turned_away() const { return turned_away_; }
  bool closed() const { return closed_; }
  // Whether it holds bytes that it hardly moves.
  bool is_stalled(Time now) const {
    const bool holds = state_ == State::writing || (state_ == State::reading && held_.bytes() > 0);
    return holds && (slow_ || now - last_moved_ >= kStall);
  }
  void measure(Time now) {
    if (now - measured_ < std::chrono::seconds(1)) return;
    slow_ = moved_ < kLeastBytesASecond;
    moved_ = 0;
    measured_ = now;
  }

 private:
  void enter(State state, Time deadline) {
    state_ = state;
    since_ = last_moved_ = measured_ = Clock::now();
    deadline_ = deadline;
    moved_ = 0;
    slow_ = false;
  }
  void moved(std::size_t bytes) {
    moved_ += bytes;
    last_moved_ = Clock::now();
  }
  // The handler of an operation: called with its error unless the connection was closed meanwhile.
  template <typename Then>
  auto then(Then next) {
    return [self = this->shared_from_this(), next = std::move(next)](const error_code& error, std::size_t bytes) {
      self->guarded([&] { next(error, bytes); });
    };
  }
  void wait_for_request() {
    if (buffer_.size() > 0) return read_request();
    enter(State::idle, after(server_.options.limits.idle_seconds));
    socket_.async_wait(tcp::socket::wait_read, [self = this->shared_from_this()](const error_code& error) {
      self->guarded([&] { error ? self->close() : self->read_request(); });
    });
  }

  void read_request() {
    enter(State::reading, after(server_.options.limits.header_seconds));
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(server_.options.most_request_bytes);
    head_only_ = false;
    held_ = ByteBudget::Lease(server_.budget);
    http::async_read_header(socket_, buffer_, *parser_, then([this](const error_code& error, std::size_t) {
                              if (error) return cannot_read(error);
                              head_only_ = parser_->get().method() == http::verb::head;
                              if (!knows_coding())
                                return refuse(501, "the Transfer-Encoding is unsupported; use chunked");
                              if (!is_let_in()) return;
                              deadline_ = after(server_.options.limits.body_seconds);
                              if (expects_continue()) return say_continue();
                              read_body();
                            }));
  }

  bool expects_continue() const {
    return parser_->get().version() >= 11 && parser_->get()[http::field::expect].starts_with("100");
  }

  // Otherwise the end of the body is a guess, and a wrong guess makes part of it the next request (RFC 9112, 6.1).
  bool knows_coding() const {
    const auto& request = parser_->get();
    const auto codings = request.equal_range(http::field::transfer_encoding);
    if (codings.first == codings.second) return true;
    return std::next(codings.first) == codings.second && request.version() == 11 &&
           boost::beast::iequals(codings.first->value(), "chunked");
  }

  std::string path() const { return path_of({parser_->get().target().data(), parser_->get().target().size()}); }
  std::string method() const { return std::string(parser_->get().method_string()); }

  const HttpRoute* route() const {
    const std::string wanted = path(), method = head_only_ ? "GET" : this->method();
    const auto found = std::find_if(server_.routes.begin(), server_.routes.end(),
                                    [&](const HttpRoute& one) { return one.path == wanted && one.method == method; });
    return found == server_.routes.end() ? nullptr : &*found;
  }

  // The path is unknown, or does not take this method.
  void refuse_route() {
    const std::string wanted = path();
    std::vector<std::string> known;
    for (const HttpRoute& one : server_.routes) {
      if (one.path == wanted) allow_ += (allow_.empty() ? "" : ", ") + one.method;
      known.push_back(one.method + " " + one.path);
    }
    const int status = allow_.empty() ? 404 : 405;
    const std::string why = status == 405 ? fmt::format("{} does not take {}, only {}.", wanted, method(), allow_)
                                          : fmt::format("There is no {} {}. There are {}.", method(),
                                                        shown_text(wanted), fmt::join(known, ", "));
    respond({status, server_.error_body(status, why), {}});
  }

  // Refuses a request without the key before its body is read.
  bool is_let_in() {
    constexpr std::string_view kScheme = "bearer ";
    const HttpRoute* const wanted = route();
    if (server_.options.bearer.empty() || (wanted && wanted->open)) return true;
    const auto field = parser_->get()[http::field::authorization];
    const std::string_view given(field.data(), field.size());
    if (given.size() > kScheme.size() && boost::beast::iequals(given.substr(0, kScheme.size()), kScheme) &&
        equal_secrets(given.substr(kScheme.size()), server_.options.bearer))
      return true;
    refuse(401, "a key is needed: send 'Authorization: Bearer <key>' with the key of this server");
    return false;
  }

  void say_continue() {
    asio::async_write(socket_, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")),
                      then([this](const error_code& error, std::size_t) {
                        if (error) return close();
                        read_body();
                      }));
  }

  void read_body() {
    if (parser_->is_done()) return answer();
    http::async_read_some(socket_, buffer_, *parser_, then([this](const error_code& error, std::size_t bytes) {
                            if (error) return cannot_read(error);
                            moved(bytes);
                            if (!hold_body())
                              return refuse(503, "too many requests and answers are under way; try again later");
                            read_body();
                          }));
  }

  bool hold_body() {
    const std::size_t bytes = parser_->get().body().size();
    if (held_.resize(bytes)) return true;
    server_.close_stalled(Clock::now());
    return !closed_ && held_.resize(bytes);
  }

  void cannot_read(const error_code& error) {
    if (!is_http_error(error)) return close();
    const int status = status_of(error);
    refuse(status, status == 413
                       ? fmt::format("the request is larger than {} bytes", server_.options.most_request_bytes)
                   : status == 431 ? fmt::format("the headers are larger than {} bytes", kMostHeaderBytes)
                                   : fmt::format("the request is not HTTP: {}", error.message()));
  }

  // The last answer of this connection.
  void refuse(int status, const std::string& why) {
    keep_ = false;
    respond({status, server_.error_body(status, why), {}});
  }

  void answer() {
    keep_ = parser_->get().keep_alive();
    chunked_ = parser_->get().version() >= 11;
    const HttpRoute* const wanted = route();
    if (!wanted) return refuse_route();
    if (wanted->at_once)
      return respond(answer_of(*wanted, server_, {parser_->get().body(), 0, server_.budget, stop_, nullptr}));
    if (server_.working + server_.waiting >= server_.options.threads + server_.options.limits.waiting)
      return respond({429, server_.error_body(429, "too many requests wait; try again later"), {}});
    enter(State::working, Time::max());
    ends_with_client_ = wanted->ends_with_client;
    unsent_ = std::make_shared<Unsent>();
    waits_ = true;
    ++server_.waiting;
    asio::post(server_.workers, [self = this->shared_from_this(), wanted, body = std::move(parser_->get().body()),
                                 held = std::move(held_), arrived = Clock::now()]() mutable {
      Implementation& server = self->server_;
      ++server.working;
      self->leave_queue();
      auto answer = std::make_shared<HttpServerAnswer>(work_on(self, *wanted, body, arrived));
      --server.working;
      body = std::string();
      held = {};
      asio::post(server.io,
                 [self = std::move(self), answer] { self->guarded([&] { self->end_answer(std::move(*answer)); }); });
    });
  }

  static HttpServerAnswer work_on(const std::shared_ptr<Connection>& self, const HttpRoute& route,
                                  std::string_view body, Time arrived);

  static HttpServerAnswer answer_of(const HttpRoute& route, const Implementation& server,
                                    const HttpServerRequest& request) {
    try {
      return route.answer(request);
    } catch (const std::exception& error) {
      return {500, server.error_body(500, error.what()), {}};
    }
  }

  void respond(HttpServerAnswer answer) {
    held_ = std::move(answer.held);
    keep_ = keep_ && !server_.stop_end;
    response_.emplace(static_cast<http::status>(answer.status), 11);
    response_->set(http::field::content_type, answer.content_type);
    if (answer.status == 503 || answer.status == 429) response_->set(http::field::retry_after, "1");
    if (answer.status == 401) response_->set(http::field::www_authenticate, "Bearer");
    if (!allow_.empty()) response_->set(http::field::allow, std::exchange(allow_, {}));
    response_->keep_alive(keep_);
    response_->body() = std::move(answer.body);
    response_->prepare_payload();
    if (head_only_) response_->body().clear();  // its length stays in the headers
    serializer_.emplace(*response_);
    write_end_ = after(server_.options.limits.write_seconds);
    enter(State::writing, write_end_);
    write();
  }

  void write() {
    deadline_ = std::min(write_end_, after(server_.options.limits.stall_seconds));
    http::async_write_some(socket_, *serializer_, then([this](const error_code& error, std::size_t bytes) {
                             if (error) return close();
                             moved(bytes);
                             if (!serializer_->is_done()) return write();
                             serializer_.reset();
                             response_.reset();
                             held_ = {};
                             if (keep_) return wait_for_request();
                             leave();
                           }));
  }

  // Pieces follow each other for as long as the worker makes them; a client that reads has all the time.
  void begin_pieces(const char* content_type) {
    keep_ = keep_ && chunked_ && !server_.stop_end;
    enter(State::sending, Time::max());
    no_more_ = false;
    out_ = fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-cache\r\n{}{}\r\n", content_type,
                       chunked_ ? "Transfer-Encoding: chunked\r\n" : "", keep_ ? "" : "Connection: close\r\n");
  }
  void write_pieces() {
    if (piece_is_under_way_) return;
    if (out_.empty()) {
      deadline_ = Time::max();
      if (no_more_) end_pieces();
      return;
    }
    piece_ = std::exchange(out_, {});
    piece_is_under_way_ = true;
    piece_sent_ = 0;
    write_piece();
  }
  void write_piece() {
    deadline_ = after(server_.options.limits.stall_seconds);
    socket_.async_write_some(asio::buffer(piece_.data() + piece_sent_, piece_.size() - piece_sent_),
                             then([this](const error_code& error, std::size_t bytes) {
                               if (error) return close();
                               moved(bytes);
                               piece_sent_ += bytes;
                               if (piece_sent_ < piece_.size()) return write_piece();
                               {
                                 const std::lock_guard lock(unsent_->mutex);
                                 unsent_->bytes -= std::min(unsent_->bytes, piece_.size());
                                 unsent_->less.notify_all();
                               }
                               piece_is_under_way_ = false;
                               write_pieces();
                             }));
  }
  void end_pieces() {
    unsent_.reset();
    if (keep_ && !server_.stop_end) return wait_for_request();
    leave();
  }

  // To close at once would take the answer from a client that is still sending.
  void leave() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    const bool still_sends = parser_ && !parser_->is_done() && !turned_away_;
    enter(State::leaving, still_sends ? after(server_.options.limits.body_seconds) : Clock::now() + kFarewell);
    left_over_ = 2 * server_.options.most_request_bytes + (1 << 20);
    buffer_.clear();
    throw_away();
  }
  void throw_away() {
    socket_.async_read_some(buffer_.prepare(kMostBufferBytes / 2),
                            then([this](const error_code& error, std::size_t bytes) {
                              if (error || bytes > left_over_) return close();
                              left_over_ -= bytes;
                              throw_away();
                            }));
  }

  Implementation& server_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_{kMostBufferBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  ByteBudget::Lease held_;  // of the request's body, then of the answer's
  State state_ = State::reading;
  Time since_ = Clock::now(), deadline_ = Time::max(), write_end_ = Time::max();
  Time last_moved_ = Clock::now(), measured_ = Clock::now();
  std::size_t moved_ = 0;  // bytes since measured_
  std::size_t left_over_ = 0;
  std::string out_, piece_;  // of an answer in pieces: to be sent next, and now
  std::size_t piece_sent_ = 0;
  std::shared_ptr<Unsent> unsent_;
  std::string allow_;  // the methods of a path, for the head of the next answer
  std::atomic<bool> stop_ = false, gone_ = false, waits_ = false;
  bool piece_is_under_way_ = false, no_more_ = false, chunked_ = true, ends_with_client_ = false;
  bool slow_ = false, keep_ = false, head_only_ = false, turned_away_ = false, closed_ = false;
};

// The worker's side of an answer in pieces.
class HttpServer::Implementation::Pieces final : public HttpPieces {
 public:
  explicit Pieces(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)), unsent_(connection_->unsent()), chunked_(connection_->chunked()) {}

  bool send(std::string_view piece, const char* content_type) override {
    if (piece.empty()) return !connection_->stop();  // an empty chunk would be the last
    std::unique_lock lock(unsent_->mutex);
    unsent_->less.wait(lock, [&] { return unsent_->over || unsent_->bytes < kMostUnsent; });
    if (unsent_->over) return false;
    post(piece, content_type);
    return true;
  }

  bool send_if_read(std::string_view piece, const char* content_type) override {
    const std::lock_guard lock(unsent_->mutex);
    if (piece.empty() || unsent_->over || unsent_->bytes >= kMostUnsent) return false;
    post(piece, content_type);
    return true;
  }

 private:
  // REQUIRES: the lock of unsent_ is held.
  void post(std::string_view piece, const char* content_type) {
    auto bytes = std::make_shared<std::string>(chunked_ ? fmt::format("{:x}\r\n{}\r\n", piece.size(), piece)
                                                        : std::string(piece));
    unsent_->bytes += bytes->size();
    asio::post(connection_->io(), [connection = connection_, bytes, content_type] {
      connection->guarded([&] { connection->add_piece(*bytes, content_type); });
    });
  }

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Unsent> unsent_;
  const bool chunked_;
};

HttpServerAnswer HttpServer::Implementation::Connection::work_on(const std::shared_ptr<Connection>& self,
                                                                 const HttpRoute& route, std::string_view body,
                                                                 Time arrived) {
  if (self->gone_) return {503, http_error_body("nobody waits for the answer"), {}};
  if (self->stop_) return {503, self->server_.error_body(503, "the server is stopping"), {}};
  Pieces pieces(self);
  const double waited = std::chrono::duration<double>(Clock::now() - arrived).count();
  return answer_of(route, self->server_, {body, waited, self->server_.budget, self->stop_, &pieces});
}

void HttpServer::Implementation::accept() {
  acceptor.async_accept([this](const error_code& error, tcp::socket socket) {
    if (stop_end || error == asio::error::operation_aborted) return;
    if (!error) {
      try {
        take(std::move(socket));
      } catch (const std::exception&) {  // no memory: it is closed
      }
      return accept();
    }
    // No descriptor or no memory: an idle connection makes room.
    close_longest_idle(Clock::now());
    accept_again.expires_after(kLook);
    accept_again.async_wait([this](const error_code& aborted) {
      if (!aborted && !stop_end) accept();
    });
  });
}

void HttpServer::Implementation::take(tcp::socket socket) {
  const Time now = Clock::now();
  const auto is_full = [this] {
    return static_cast<int>(connections.size()) - turned_away >= options.limits.connections;
  };
  if (is_full()) close_late_ones(now);
  const bool room = !is_full() || close_longest_idle(now);
  if (!room && turned_away >= kMostTurnedAway) return;  // closes it
  const auto connection = std::make_shared<Connection>(*this, std::move(socket));
  connections.insert(connection);
  if (room) return connection->start();
  ++turned_away;
  connection->turn_away();
}

void HttpServer::Implementation::look(const std::atomic<bool>& wish) {
  const Time now = Clock::now();
  if (wish && !stop_end) begin_stop();
  close_late_ones(now);
  if (budget.refusals() != std::exchange(seen_refusals, budget.refusals())) close_stalled(now);
  if (stop_end && connections.empty()) return;
  timer.expires_after(kLook);
  timer.async_wait([this, &wish](const error_code& aborted) {
    if (!aborted) look(wish);
  });
}

void HttpServer::Implementation::close_late_ones(Time now) {
  const bool late = stop_end && now >= *stop_end;  // which workers answer with a refusal
  const bool all = stop_end && now >= *stop_end + kLastAnswers;
  std::erase_if(connections, [&](const std::shared_ptr<Connection>& connection) {
    if (late) connection->end_work();
    connection->look_for_client();
    if (all || now >= connection->deadline()) connection->close();
    connection->measure(now);
    if (connection->closed() && connection->turned_away()) --turned_away;
    return connection->closed();
  });
}

// Closes the connection that has waited longest between two requests; else the one that has been slow with its request
// for longest. False: there is neither.
bool HttpServer::Implementation::close_longest_idle(Time now) {
  std::shared_ptr<Connection> longest;
  for (const auto& connection : connections) {
    const bool idle = connection->state() == State::idle || connection->state() == State::leaving;
    const bool slow = connection->state() == State::reading && now - connection->since() >= kPatience;
    if (connection->closed() || connection->turned_away() || !(idle || slow)) continue;
    const bool longest_is_idle = longest && longest->state() != State::reading;
    if (!longest || (idle && !longest_is_idle) || (idle == longest_is_idle && connection->since() < longest->since()))
      longest = connection;
  }
  if (!longest) return false;
  longest->close();
  connections.erase(longest);
  return true;
}

// Other requests wait while answers that are not read, and requests that do not arrive, hold the bytes.
void HttpServer::Implementation::close_stalled(Time now) {
  for (const auto& connection : connections)
    if (connection->is_stalled(now)) connection->close();
}

void HttpServer::Implementation::begin_stop() {
  stop_end = after(options.limits.stop_seconds);
  error_code ignored;
  acceptor.close(ignored);
  accept_again.cancel();
  for (const auto& connection : connections)
    if (connection->state() != State::working && connection->state() != State::sending &&
        connection->state() != State::writing)
      connection->close();
}

HttpServer::HttpServer(const HttpServerOptions& options, std::vector<HttpRoute> routes)
    : implementation_(std::make_unique<Implementation>(options, std::move(routes))) {}
HttpServer::~HttpServer() = default;

int HttpServer::port() const { return implementation_->port; }
HttpServerLoad HttpServer::load() const { return {implementation_->working, implementation_->waiting}; }
void HttpServer::run(const std::atomic<bool>& stop) { implementation_->run(stop); }

}  // namespace agon::net
