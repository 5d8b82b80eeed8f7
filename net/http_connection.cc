#include "net/http_connection.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "core/json_parse.h"

namespace agon::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr auto kStall = std::chrono::milliseconds(250);  // stalled, if others need room: no byte moved for this long,
constexpr std::size_t kLeastBytesASecond = 64 << 10;     // or fewer bytes than this
constexpr auto kFarewell = std::chrono::seconds(1);      // for a client to read its last answer
constexpr std::size_t kMostHeaderBytes = 16 << 10;
constexpr std::size_t kMostBufferBytes = 128 << 10;  // read ahead
constexpr std::size_t kMostUnsent = 256 << 10;       // of an answer in pieces; further pieces wait

int status_of(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

bool is_http_error(const error_code& error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

// Compares in a time that does not reveal how much of them is equal.
bool equal_secrets(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

// The path of a request's target, which may be a whole URL (RFC 9112, 3.2): without its query, percent-decoded.
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

}  // namespace

struct UnsentPieces {
  std::mutex mutex;
  std::condition_variable less;
  std::size_t bytes = 0;
  bool over = false;  // the connection is closed
};

// The worker's side of an answer in pieces.
class HttpConnection::Pieces final : public HttpPieces {
 public:
  explicit Pieces(std::shared_ptr<HttpConnection> connection)
      : connection_(std::move(connection)), unsent_(connection_->unsent_), chunked_(connection_->chunked_) {}

  bool send(std::string_view piece, const char* content_type) override {
    if (piece.empty()) return !connection_->stop_;  // an empty chunk would be the last
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
    asio::post(connection_->serving_.io, [connection = connection_, bytes, content_type] {
      connection->guarded([&] { connection->add_piece(*bytes, content_type); });
    });
  }

  const std::shared_ptr<HttpConnection> connection_;
  const std::shared_ptr<UnsentPieces> unsent_;
  const bool chunked_;
};

HttpConnection::Time HttpConnection::after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

HttpConnection::HttpConnection(HttpServing& serving, Socket socket)
    : serving_(serving), socket_(std::move(socket)), buffer_(kMostBufferBytes) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void HttpConnection::turn_away() {
  turned_away_ = true;
  refuse(503, "all connections are taken; try again later");
}

void HttpConnection::close() {
  if (closed_) return;
  closed_ = true;
  nobody_waits();
  error_code ignored;
  socket_.close(ignored);
}

void HttpConnection::end_work() {
  stop_ = true;
  leave_queue();
}

void HttpConnection::nobody_waits() {
  gone_ = true;
  end_work();
  if (!unsent_) return;
  const std::lock_guard lock(unsent_->mutex);
  unsent_->over = true;
  unsent_->less.notify_all();
}

void HttpConnection::look_for_client() {
  const bool watched = (state_ == State::working || state_ == State::sending) && route_->ends_with_client;
  if (watched && !stop_ && has_closed_its_side(socket_.native_handle())) nobody_waits();
}

void HttpConnection::leave_queue() {
  if (waits_.exchange(false)) --serving_.waiting;
}

bool HttpConnection::is_stalled(Time now) const {
  const bool holds = state_ == State::writing || (state_ == State::reading && held_.bytes() > 0);
  return holds && (slow_ || now - last_moved_ >= kStall);
}

void HttpConnection::measure(Time now) {
  if (now - measured_ < std::chrono::seconds(1)) return;
  slow_ = moved_ < kLeastBytesASecond;
  moved_ = 0;
  measured_ = now;
}

void HttpConnection::enter(State state, Time deadline) {
  state_ = state;
  since_ = last_moved_ = measured_ = Clock::now();
  deadline_ = deadline;
  moved_ = 0;
  slow_ = false;
}

void HttpConnection::moved(std::size_t bytes) {
  moved_ += bytes;
  last_moved_ = Clock::now();
}

// Any failure in a connection (such as no memory) ends only that connection.
template <typename Work>
void HttpConnection::guarded(Work work) {
  if (closed_) return;
  try {
    work();
  } catch (const std::exception&) {
    close();
  }
}

// The handler of an operation: called with its error unless the connection was closed meanwhile.
template <typename Then>
auto HttpConnection::then(Then next) {
  return [self = shared_from_this(), next = std::move(next)](const error_code& error, std::size_t bytes) {
    self->guarded([&] { next(error, bytes); });
  };
}

void HttpConnection::wait_for_request() {
  if (buffer_.size() > 0) return read_request();
  enter(State::idle, after(serving_.options.limits.idle_seconds));
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->guarded([&] { error ? self->close() : self->read_request(); });
  });
}

void HttpConnection::read_request() {
  enter(State::reading, after(serving_.options.limits.header_seconds));
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  parser_->body_limit(serving_.options.most_request_bytes);
  head_only_ = false;
  held_ = ByteBudget::Lease(serving_.budget);
  http::async_read_header(socket_, buffer_, *parser_, then([this](const error_code& error, std::size_t) {
                            error ? cannot_read(error) : on_head();
                          }));
}

void HttpConnection::on_head() {
  head_only_ = parser_->get().method() == http::verb::head;
  route_ = find_route();
  if (!has_known_coding()) return refuse(501, "the Transfer-Encoding is unsupported; use chunked");
  if (!is_let_in())  // before its body is read
    return refuse(401, "a key is needed: send 'Authorization: Bearer <key>' with the key of this server");
  deadline_ = after(serving_.options.limits.body_seconds);
  expects_continue() ? say_continue() : read_body();
}

bool HttpConnection::expects_continue() const {
  return parser_->get().version() >= 11 && parser_->get()[http::field::expect].starts_with("100");
}

// With other codings the end of the body is a guess, and a wrong guess turns part of it into the next request (RFC
// 9112, 6.1).
bool HttpConnection::has_known_coding() const {
  const auto& request = parser_->get();
  const auto codings = request.equal_range(http::field::transfer_encoding);
  if (codings.first == codings.second) return true;
  return std::next(codings.first) == codings.second && request.version() == 11 &&
         boost::beast::iequals(codings.first->value(), "chunked");
}

std::string HttpConnection::path() const {
  return path_of({parser_->get().target().data(), parser_->get().target().size()});
}

std::string HttpConnection::method() const { return std::string(parser_->get().method_string()); }

const HttpRoute* HttpConnection::find_route() const {
  const std::string wanted = path(), method = head_only_ ? "GET" : this->method();
  const auto found = std::find_if(serving_.routes.begin(), serving_.routes.end(),
                                  [&](const HttpRoute& one) { return one.path == wanted && one.method == method; });
  return found == serving_.routes.end() ? nullptr : &*found;
}

bool HttpConnection::is_let_in() const {
  constexpr std::string_view kScheme = "bearer ";
  if (serving_.options.bearer.empty() || (route_ && route_->open)) return true;
  const auto field = parser_->get()[http::field::authorization];
  const std::string_view given(field.data(), field.size());
  return given.size() > kScheme.size() && boost::beast::iequals(given.substr(0, kScheme.size()), kScheme) &&
         equal_secrets(given.substr(kScheme.size()), serving_.options.bearer);
}

void HttpConnection::say_continue() {
  asio::async_write(socket_, asio::buffer(std::string_view("HTTP/1.1 100 Continue\r\n\r\n")),
                    then([this](const error_code& error, std::size_t) { error ? close() : read_body(); }));
}

void HttpConnection::read_body() {
  if (parser_->is_done()) return answer();
  http::async_read_some(socket_, buffer_, *parser_, then([this](const error_code& error, std::size_t bytes) {
                          if (error) return cannot_read(error);
                          moved(bytes);
                          if (!hold_body())
                            return refuse(503, "too many requests and answers are under way; try again later");
                          read_body();
                        }));
}

bool HttpConnection::hold_body() {
  const std::size_t bytes = parser_->get().body().size();
  if (held_.resize(bytes)) return true;
  serving_.free_bytes();
  return !closed_ && held_.resize(bytes);
}

void HttpConnection::cannot_read(const error_code& error) {
  if (!is_http_error(error)) return close();
  const int status = status_of(error);
  refuse(status, status == 413 ? fmt::format("the request is larger than {} bytes", serving_.options.most_request_bytes)
                 : status == 431 ? fmt::format("the headers are larger than {} bytes", kMostHeaderBytes)
                                 : fmt::format("the request is not HTTP: {}", error.message()));
}

void HttpConnection::answer() {
  const auto& limits = serving_.options.limits;
  keep_ = parser_->get().keep_alive();
  chunked_ = parser_->get().version() >= 11;
  if (!route_) return refuse_route();
  if (route_->at_once) return respond(answer_of({parser_->get().body(), 0, serving_.budget, stop_, nullptr}));
  if (serving_.working + serving_.waiting >= serving_.options.threads + limits.waiting)
    return respond({429, serving_.error_body(429, "too many requests wait; try again later"), {}});
  enter(State::working, Time::max());
  hand_over();
}

// Hands the request to a worker, with its body and the lease of its bytes.
void HttpConnection::hand_over() {
  unsent_ = std::make_shared<UnsentPieces>();
  waits_ = true;
  ++serving_.waiting;
  asio::post(serving_.workers, [self = shared_from_this(), body = std::move(parser_->get().body()),
                                held = std::move(held_), arrived = Clock::now()]() mutable {
    HttpServing& serving = self->serving_;
    ++serving.working;
    self->leave_queue();
    auto answer = std::make_shared<HttpServerAnswer>(self->work_on(body, arrived));
    --serving.working;
    body = std::string();
    held = {};
    asio::post(serving.io,
               [self = std::move(self), answer] { self->guarded([&] { self->end_answer(std::move(*answer)); }); });
  });
}

HttpServerAnswer HttpConnection::work_on(std::string_view body, Time arrived) {
  if (gone_) return {503, http_error_body("nobody waits for the answer"), {}};
  if (stop_) return {503, serving_.error_body(503, "the server is stopping"), {}};
  Pieces pieces(shared_from_this());
  const double waited = std::chrono::duration<double>(Clock::now() - arrived).count();
  return answer_of({body, waited, serving_.budget, stop_, &pieces});
}

HttpServerAnswer HttpConnection::answer_of(const HttpServerRequest& request) const {
  try {
    return route_->answer(request);
  } catch (const std::exception& error) {
    return {500, serving_.error_body(500, error.what()), {}};
  }
}

// Ends an answer in pieces; if no piece was sent, sends `answer`.
void HttpConnection::end_answer(HttpServerAnswer answer) {
  if (state_ != State::sending) return respond(std::move(answer));
  if (gone_) return close();  // a proper end would make half an answer look whole
  no_more_ = true;
  if (chunked_) out_ += "0\r\n\r\n";
  write_pieces();
}

// Sends the last answer of this connection.
void HttpConnection::refuse(int status, const std::string& why) {
  keep_ = false;
  respond({status, serving_.error_body(status, why), {}});
}

// Answers that the path is unknown, or does not take this method.
void HttpConnection::refuse_route() {
  const std::string wanted = path();
  std::vector<std::string> known;
  for (const HttpRoute& one : serving_.routes) {
    if (one.path == wanted) allow_ += (allow_.empty() ? "" : ", ") + one.method;
    known.push_back(one.method + " " + one.path);
  }
  const int status = allow_.empty() ? 404 : 405;
  const std::string why = status == 405 ? fmt::format("{} does not take {}, only {}.", wanted, method(), allow_)
                                        : fmt::format("There is no {} {}. There are {}.", method(), shown_text(wanted),
                                                      fmt::join(known, ", "));
  respond({status, serving_.error_body(status, why), {}});
}

void HttpConnection::respond(HttpServerAnswer answer) {
  held_ = std::move(answer.held);
  keep_ = keep_ && !serving_.is_stopping;
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
  write_end_ = after(serving_.options.limits.write_seconds);
  enter(State::writing, write_end_);
  write();
}

void HttpConnection::write() {
  deadline_ = std::min(write_end_, after(serving_.options.limits.stall_seconds));
  http::async_write_some(socket_, *serializer_, then([this](const error_code& error, std::size_t bytes) {
                           if (error) return close();
                           moved(bytes);
                           if (!serializer_->is_done()) return write();
                           serializer_.reset();
                           response_.reset();
                           held_ = {};
                           keep_ ? wait_for_request() : leave();
                         }));
}

// Adds the next piece of an answer, in the form in which it is sent.
void HttpConnection::add_piece(const std::string& bytes, const char* content_type) {
  if (state_ == State::working) begin_pieces(content_type);
  out_ += bytes;
  write_pieces();
}

// Pieces follow each other for as long as the worker makes them; a client that keeps reading has no deadline.
void HttpConnection::begin_pieces(const char* content_type) {
  keep_ = keep_ && chunked_ && !serving_.is_stopping;
  enter(State::sending, Time::max());
  no_more_ = false;
  out_ = fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nCache-Control: no-cache\r\n{}{}\r\n", content_type,
                     chunked_ ? "Transfer-Encoding: chunked\r\n" : "", keep_ ? "" : "Connection: close\r\n");
}

void HttpConnection::write_pieces() {
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

void HttpConnection::write_piece() {
  deadline_ = after(serving_.options.limits.stall_seconds);
  socket_.async_write_some(asio::buffer(piece_.data() + piece_sent_, piece_.size() - piece_sent_),
                           then([this](const error_code& error, std::size_t bytes) {
                             if (error) return close();
                             moved(bytes);
                             piece_sent_ += bytes;
                             piece_sent_ < piece_.size() ? write_piece() : on_piece_sent();
                           }));
}

void HttpConnection::on_piece_sent() {
  {
    const std::lock_guard lock(unsent_->mutex);
    unsent_->bytes -= std::min(unsent_->bytes, piece_.size());
    unsent_->less.notify_all();
  }
  piece_is_under_way_ = false;
  write_pieces();
}

void HttpConnection::end_pieces() {
  unsent_.reset();
  keep_ && !serving_.is_stopping ? wait_for_request() : leave();
}

// Closing at once would lose the answer for a client that is still sending.
void HttpConnection::leave() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  const bool still_sends = parser_ && !parser_->is_done() && !turned_away_;
  enter(State::leaving, still_sends ? after(serving_.options.limits.body_seconds) : Clock::now() + kFarewell);
  left_over_ = 2 * serving_.options.most_request_bytes + (1 << 20);
  buffer_.clear();
  throw_away();
}

void HttpConnection::throw_away() {
  socket_.async_read_some(buffer_.prepare(kMostBufferBytes / 2),
                          then([this](const error_code& error, std::size_t bytes) {
                            if (error || bytes > left_over_) return close();
                            left_over_ -= bytes;
                            throw_away();
                          }));
}

}  // namespace agon::net
