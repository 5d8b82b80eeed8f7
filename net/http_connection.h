// net/http_connection.h - one connection of the HTTP server: reads its requests, has them answered and writes the
// answers, one after the other. Only http_server.cc uses it; no other code in net/ uses Boost.Asio and Beast.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/byte_budget.h"
#include "net/http_server.h"

namespace agon::net {

// The state that all connections of a server share. It outlives their operations.
struct HttpServing {
  HttpServing(const HttpServerOptions& wanted, std::vector<HttpRoute> ways)
      : options(wanted), routes(std::move(ways)), budget(options.limits.most_held_bytes) {}
  std::string error_body(int status, std::string_view why) const {
    return options.error_body ? options.error_body(status, why) : http_error_body(why);
  }

  const HttpServerOptions options;
  const std::vector<HttpRoute> routes;
  ByteBudget budget;
  std::atomic<int> working = 0, waiting = 0;  // requests
  bool is_stopping = false;                   // connections close after the current answer
  std::function<void()> free_bytes;           // closes connections that hold bytes and hardly move them
  boost::asio::io_context io{1};
  boost::asio::thread_pool workers{static_cast<std::size_t>(options.threads)};  // last: its requests hold connections
};

// State shared by the worker that makes an answer in pieces and the thread of the connections.
struct UnsentPieces;

// Its functions run on the thread of the connections, unless they say otherwise. An operation under way keeps the
// connection alive.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  enum class State {
    idle,     // between two requests
    reading,  // a request
    working,  // a worker has it
    sending,  // pieces of an answer, while a worker makes them
    writing,  // an answer
    leaving   // the last answer is sent; further input is discarded until the client closes
  };

  static Time after(double seconds);  // from now

  HttpConnection(HttpServing& serving, Socket socket);

  void start() { read_request(); }
  void turn_away();  // with a 503, before a request is read
  void close();
  // Asks the worker of the current answer to end; it may still say why.
  void end_work();
  // If the client has closed its side, and the route has ends_with_client, ends the work on its answer. Closes nothing.
  void look_for_client();

  State state() const { return state_; }
  Time since() const { return since_; }        // start of the state
  Time deadline() const { return deadline_; }  // the server closes the connection at this time
  bool turned_away() const { return turned_away_; }
  bool closed() const { return closed_; }
  // Whether the connection holds bytes that it hardly moves. `measure` has to be called from time to time.
  bool is_stalled(Time now) const;
  void measure(Time now);

 private:
  class Pieces;

  void enter(State state, Time deadline);
  void moved(std::size_t bytes);
  void nobody_waits();  // like end_work, and nothing more is sent
  void leave_queue();   // the request no longer waits for a worker; on any thread
  template <typename Work>
  void guarded(Work work);
  template <typename Then>
  auto then(Then next);

  void wait_for_request();
  void read_request();
  void on_head();
  void read_body();
  bool hold_body();
  void cannot_read(const boost::system::error_code& error);
  bool expects_continue() const;
  void say_continue();
  bool has_known_coding() const;
  bool is_let_in() const;
  std::string path() const;
  std::string method() const;
  const HttpRoute* find_route() const;

  void answer();
  void hand_over();
  HttpServerAnswer work_on(std::string_view body, Time arrived);  // on a worker's thread
  HttpServerAnswer answer_of(const HttpServerRequest& request) const;
  void end_answer(HttpServerAnswer answer);
  void refuse(int status, const std::string& why);
  void refuse_route();
  void respond(HttpServerAnswer answer);
  void write();

  void add_piece(const std::string& bytes, const char* content_type);
  void begin_pieces(const char* content_type);
  void write_pieces();
  void write_piece();
  void on_piece_sent();
  void end_pieces();

  void leave();
  void throw_away();

  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;
  using Serializer = boost::beast::http::response_serializer<boost::beast::http::string_body>;
  HttpServing& serving_;
  Socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  const HttpRoute* route_ = nullptr;  // of the request; null: no route has its path and method
  std::optional<Response> response_;
  std::optional<Serializer> serializer_;
  ByteBudget::Lease held_;  // of the request's body, then of the answer's
  State state_ = State::reading;
  Time since_ = Clock::now(), deadline_ = Time::max(), write_end_ = Time::max();
  Time last_moved_ = Clock::now(), measured_ = Clock::now();
  std::size_t moved_ = 0;  // bytes since measured_
  std::size_t left_over_ = 0;
  std::string out_, piece_;  // of an answer in pieces: to be sent next, and now
  std::size_t piece_sent_ = 0;
  std::shared_ptr<UnsentPieces> unsent_;
  std::string allow_;  // the methods of a path, for the head of the next answer
  std::atomic<bool> stop_ = false, gone_ = false, waits_ = false;
  bool piece_is_under_way_ = false, no_more_ = false, chunked_ = true;
  bool slow_ = false, keep_ = false, head_only_ = false, turned_away_ = false, closed_ = false;
};

}  // namespace agon::net
