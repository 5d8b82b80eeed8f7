// net/http_server.h - an HTTP/1.1 server with limits on time, memory and connections that no client can exceed. One
// thread reads and writes all connections; a worker is occupied only while it answers a request.
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
  // Open at a time. For a further one the server closes the longest idle connection, else the slowest sender of a
  // request; else it answers 503.
  int connections = 512;
  // Of all bodies and answers in memory. If a connection needs more, the server first closes the connections that hold
  // bytes and moved none for 250 ms, or fewer than 64 KiB in a second. If that does not suffice, it answers 503.
  std::size_t most_held_bytes = 256u << 20;
  double idle_seconds = 30;    // between two requests of a connection
  double header_seconds = 10;  // for a request line and its headers; of a new connection: from its start
  double body_seconds = 30;    // for the body
  double stall_seconds = 10;   // without the client reading a byte of an answer
  double write_seconds = 60;   // for all of an answer
  double stop_seconds = 0.5;   // for answers under way when the server stops
  // Requests that wait while all workers are busy; a further one gets 429. Only values below `connections` minus
  // `threads` have an effect.
  int waiting = 1 << 20;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                             // 0: any that is free
  int threads = 16;                            // workers: requests answered at a time
  std::size_t most_request_bytes = 16u << 20;  // of a body; a larger one gets 413
  HttpLimits limits;
  // Requests to routes that are not `open` need "Authorization: Bearer <token>", or get 401 before their body is read.
  // Empty: no token is needed.
  std::string bearer = {};
  // Makes the body of an answer by which the server itself refuses a request; null: http_error_body.
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
  // Sends the head of a 200 of this type before the first piece, then the piece. Waits while many bytes are unsent.
  // False: the client is gone or the server has stopped; nothing more is sent, so the client sees a broken answer. Once
  // a piece was sent, the answer that the route returns is ignored.
  virtual bool send(std::string_view piece, const char* content_type) = 0;
  // The same without waiting, from any thread: returns false, and sends nothing, if it would wait. Not during another
  // send.
  virtual bool send_if_read(std::string_view piece, const char* content_type) = 0;
};

struct HttpServerRequest {
  std::string_view body;
  double waited;  // seconds that it waited for a worker
  ByteBudget& budget;
  const std::atomic<bool>& stop;  // set: answer now, because the client has gone or the server stops
  HttpPieces* pieces = nullptr;   // null if the route is answered at once
};

struct HttpRoute {
  std::string method, path;
  bool at_once;  // answered on the thread of the connections, even if all workers are busy: it must not take long
  std::function<HttpServerAnswer(const HttpServerRequest&)> answer;  // what it throws becomes a 500
  bool open = false;                                                 // needs no bearer token
  // True: a client that closes its side of the connection has gone, and `stop` of its request is set. False: it may
  // still read.
  bool ends_with_client = false;
};

// Numbers of requests, only to routes that are not answered at once.
struct HttpServerLoad {
  int working = 0, waiting = 0;
};

std::string http_error_body(std::string_view why);  // {"error": why}

class HttpServer {
 public:
  // Listens from here on. Throws Error if the port is unavailable, or if fewer files may be open than `connections`
  // needs.
  HttpServer(const HttpServerOptions& options, std::vector<HttpRoute> routes);
  ~HttpServer();

  int port() const;
  HttpServerLoad load() const;  // thread-safe
  // Answers until `stop` is set. Answers then under way have stop_seconds to end; after that their connections are
  // closed. Call it once.
  void run(const std::atomic<bool>& stop);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace agon::net
