// net/http_server.h - an HTTP/1.1 server that stays within its time, bytes and connections, whatever its clients do.
// One thread reads and writes all connections; a worker is occupied only while it answers a request.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/byte_budget.h"

namespace agon::net {

struct HttpLimits {
  int connections = 512;  // open at a time; one more closes the longest idle one, or gets 503
  // Of all bodies and answers in memory. A connection that needs more closes those that moved no byte for 250 ms or
  // fewer than 64 KiB in a second; else it gets 503.
  std::size_t most_held_bytes = 256u << 20;
  double idle_seconds = 30;    // between two requests of a connection
  double header_seconds = 10;  // for a request line and its headers; of a new connection: from its start
  double body_seconds = 30;    // for the body
  double stall_seconds = 10;   // in which the client reads not a byte of an answer
  double write_seconds = 60;   // for all of an answer
  double stop_seconds = 0.5;   // for what is under way once the server is to stop
  // Requests that wait while all workers are busy; one more gets 429. With the workers fewer than the connections, or
  // it is never reached.
  int waiting = 1 << 20;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                             // 0: any that is free
  int threads = 16;                            // workers: requests answered at a time
  std::size_t most_request_bytes = 16u << 20;  // of a body; a larger one gets 413
  HttpLimits limits;
  // Requests to routes that are not `open` need "Authorization: Bearer <token>", or get 401 before their body is read.
  // Empty: nobody needs one.
  std::string bearer = {};
  // The body of what the server refuses itself; none: http_error_body.
  std::function<std::string(int status, std::string_view why)> error_body = nullptr;
};

struct HttpServerAnswer {
  int status = 200;
  std::string body;
  ByteBudget::Lease held = {};  // of the body, until it is sent
  const char* content_type = "application/json";
};

// An answer in pieces. Belongs to the worker that answers the request.
class HttpPieces {
 public:
  virtual ~HttpPieces() = default;
  // Sends the head of a 200 of this type before the first piece, then the piece. Waits while the client has much
  // unread. False: the client is gone, or the server has stopped, and nothing more is sent: the client sees a broken
  // answer. The answer that the route returns after a first piece is not sent.
  virtual bool send(std::string_view piece, const char* content_type) = 0;
  // The same without waiting, from any thread: false where it would wait, and nothing is sent. Not during another send.
  virtual bool send_if_read(std::string_view piece, const char* content_type) = 0;
};

struct HttpServerRequest {
  std::string_view body;
  double waited;  // seconds, for a worker
  ByteBudget& budget;
  const std::atomic<bool>& stop;  // answer now: the client has gone, or the server stops
  HttpPieces* pieces = nullptr;   // null: of a route that is answered at once
};

struct HttpRoute {
  std::string method, path;
  bool at_once;  // answered on the thread of the connections, even if all workers are busy: it must not take long
  std::function<HttpServerAnswer(const HttpServerRequest&)> answer;  // what it throws becomes a 500
  bool open = false;                                                 // needs no bearer token
  // A client that closes its side of the connection has gone: `stop` of its request is set. False: it may still read.
  bool ends_with_client = false;
};

// Of requests to routes that are not answered at once.
struct HttpServerLoad {
  int working = 0, waiting = 0;
};

std::string http_error_body(std::string_view why);  // {"error": why}

class HttpServer {
 public:
  // Listens from here on. Throws Error where the port is unavailable, or fewer files may be open than `connections`
  // needs.
  HttpServer(const HttpServerOptions& options, std::vector<HttpRoute> routes);
  ~HttpServer();

  int port() const;
  HttpServerLoad load() const;  // thread-safe
  // Answers until `stop` is set; what is under way then has stop_seconds to end, and its connections are closed. To be
  // called once.
  void run(const std::atomic<bool>& stop);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::net
