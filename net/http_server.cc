#include "net/http_server.h"

#include <sys/resource.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/json_parse.h"
#include "net/http_connection.h"

namespace agon::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = HttpConnection::Clock;
using Time = HttpConnection::Time;
using State = HttpConnection::State;

constexpr int kBacklog = 1024;                                 // connections that wait to be accepted
constexpr auto kLook = std::chrono::milliseconds(20);          // interval of checks of deadlines and of the stop wish
constexpr auto kLastAnswers = std::chrono::milliseconds(200);  // time to send them when the server stops
constexpr auto kPatience = std::chrono::seconds(1);            // a connection that takes longer may be closed
constexpr int kMostTurnedAway = 64;                            // connections at a time that get a 503
constexpr int kSocketBytes = 256 << 10;                        // the kernel's buffer, each way
constexpr int kOtherFiles = 128;                               // descriptors in addition to the connections

// Raises the limit of open files if it is too low.
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

}  // namespace

std::string http_error_body(std::string_view why) { return to_text(SortedJson{{"error", why}}); }

struct HttpServer::Implementation {
  Implementation(const HttpServerOptions& wanted, std::vector<HttpRoute> ways) : serving(wanted, std::move(ways)) {
    const HttpServerOptions& options = serving.options;
    require_descriptors(options.limits.connections, options.threads);
    serving.free_bytes = [this] { close_stalled(Clock::now()); };
    try {
      listen();
    } catch (const boost::system::system_error& error) {
      const bool taken = error.code() == boost::system::errc::address_in_use;
      throw Error("{}:{}: cannot listen there: {}. {}Choose another --host or --port.", options.host, options.port,
                  error.code().message(), taken ? "Does another server use it? " : "");
    }
  }

  void listen() {
    const auto address = tcp::resolver(serving.io)
                             .resolve(serving.options.host, std::to_string(serving.options.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service);
    const tcp::endpoint endpoint = address.begin()->endpoint();
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    // Buffers of a fixed size; otherwise the kernel would hold megabytes for a client that does not read. Connections
    // inherit it.
    acceptor.set_option(asio::socket_base::send_buffer_size(kSocketBytes));
    acceptor.set_option(asio::socket_base::receive_buffer_size(kSocketBytes));
    acceptor.bind(endpoint);
    acceptor.listen(kBacklog);
    port = acceptor.local_endpoint().port();
  }

  void run(const std::atomic<bool>& wish) {
    accept();
    look(wish);
    serving.io.run();
    serving.workers.stop();
    serving.workers.join();
  }

  void accept();
  void take(tcp::socket socket);
  void look(const std::atomic<bool>& wish);
  void close_late_ones(Time now);
  bool close_longest_idle(Time now);
  void close_stalled(Time now);
  void begin_stop();

  HttpServing serving;
  tcp::acceptor acceptor{serving.io};
  asio::steady_timer timer{serving.io}, accept_again{serving.io};
  std::set<std::shared_ptr<HttpConnection>> connections;
  int turned_away = 0;  // the connections among them that get a 503
  std::size_t seen_refusals = 0;
  std::optional<Time> stop_end;
  int port = 0;
};

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
    return static_cast<int>(connections.size()) - turned_away >= serving.options.limits.connections;
  };
  if (is_full()) close_late_ones(now);
  const bool room = !is_full() || close_longest_idle(now);
  if (!room && turned_away >= kMostTurnedAway) return;  // closes it
  const auto connection = std::make_shared<HttpConnection>(serving, std::move(socket));
  connections.insert(connection);
  if (room) return connection->start();
  ++turned_away;
  connection->turn_away();
}

void HttpServer::Implementation::look(const std::atomic<bool>& wish) {
  const Time now = Clock::now();
  if (wish && !stop_end) begin_stop();
  close_late_ones(now);
  if (serving.budget.refusals() != std::exchange(seen_refusals, serving.budget.refusals())) close_stalled(now);
  if (stop_end && connections.empty()) return;
  timer.expires_after(kLook);
  timer.async_wait([this, &wish](const error_code& aborted) {
    if (!aborted) look(wish);
  });
}

void HttpServer::Implementation::close_late_ones(Time now) {
  const bool late = stop_end && now >= *stop_end;  // workers then refuse waiting requests
  const bool all = stop_end && now >= *stop_end + kLastAnswers;
  std::erase_if(connections, [&](const std::shared_ptr<HttpConnection>& connection) {
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
  std::shared_ptr<HttpConnection> longest;
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

// Closes connections whose unread answers, or requests that do not arrive, hold bytes that others need.
void HttpServer::Implementation::close_stalled(Time now) {
  for (const auto& connection : connections)
    if (connection->is_stalled(now)) connection->close();
}

void HttpServer::Implementation::begin_stop() {
  serving.is_stopping = true;
  stop_end = HttpConnection::after(serving.options.limits.stop_seconds);
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
HttpServerLoad HttpServer::load() const { return {implementation_->serving.working, implementation_->serving.waiting}; }
void HttpServer::run(const std::atomic<bool>& stop) { implementation_->run(stop); }

}  // namespace agon::net
