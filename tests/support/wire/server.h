// tests/support/wire/server.h - a server on the loopback that answers each HTTP request with bytes of the test's
// choice: late, incomplete, malformed, or not at all.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/text.h"

namespace agon::test {

struct WireRequest {
  std::string line;  // "POST /v1/chat/completions HTTP/1.1"
  std::string head;  // all header lines, with the request line
  std::string body;
  int number = 0;      // among all requests, from 0
  int connection = 0;  // among all connections, from 0
};
struct WireReply {
  enum class End { keep, close, reset };
  std::vector<std::string> parts;  // sent one by one
  End end = End::keep;             // of the connection, after the parts
  double before = 0, between = 0;  // seconds to wait, before the first part and between parts
};

inline WireReply http_reply(int status, const std::string& body, const std::string& headers = {}) {
  return {{fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}", status,
                       body.size(), headers, body)}};
}
// Server-sent events, one chunk each. whole: false leaves out the chunk that ends the body.
inline WireReply event_reply(const std::vector<std::string>& events, bool whole = true) {
  WireReply reply;
  reply.parts.emplace_back("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const std::string& event : events) {
    const std::string data = "data: " + event + "\n\n";
    reply.parts.push_back(fmt::format("{:x}\r\n{}\r\n", data.size(), data));
  }
  if (whole)
    reply.parts.emplace_back("0\r\n\r\n");
  else
    reply.end = WireReply::End::close;
  return reply;
}

class WireServer {
 public:
  using Answer = std::function<WireReply(const WireRequest&)>;

  explicit WireServer(Answer answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 4096);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { accept_all(); });
  }
  ~WireServer() {
    closing_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
    }
    connections_.clear();
  }

  int port() const { return port_; }
  std::string url(const std::string& path = "/v1") const { return fmt::format("http://127.0.0.1:{}{}", port_, path); }
  int requests() const { return requests_; }
  int connections() const { return count_; }
  int most_at_once() const { return most_; }
  int closed_early() const { return closed_early_; }  // connections that the client closed before the reply was sent
  std::vector<WireRequest> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void accept_all() {
    while (!closing_) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) continue;
      const std::lock_guard lock(mutex_);
      open_.push_back(socket);
      connections_.emplace_back([this, socket, number = count_++] { serve(socket, number); });
    }
  }

  void serve(int socket, int connection) {
    std::string bytes;
    WireRequest request;
    request.connection = connection;
    while (!closing_ && read_request(socket, bytes, request)) {
      request.number = requests_++;
      {
        const std::lock_guard lock(mutex_);
        seen_.push_back(request);
      }
      most_ = std::max<int>(most_, ++under_way_);
      const WireReply reply = answer_(request);
      const bool sent = send_all(socket, reply);
      --under_way_;
      if (!sent) ++closed_early_;
      if (!sent || reply.end != WireReply::End::keep) {
        if (reply.end == WireReply::End::reset) {
          const linger now{1, 0};
          ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        break;
      }
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, socket);
    ::close(socket);
  }

  static bool read_request(int socket, std::string& bytes, WireRequest& request) {
    std::size_t end = 0;
    while ((end = bytes.find("\r\n\r\n")) == std::string::npos)
      if (!read_more(socket, bytes)) return false;
    request.head = bytes.substr(0, end);
    request.line = request.head.substr(0, request.head.find("\r\n"));
    std::size_t length = 0;
    const std::string lower = to_lower(request.head);
    if (const std::size_t at = lower.find("content-length:"); at != std::string::npos)
      length = std::stoul(lower.substr(at + 15));
    while (bytes.size() < end + 4 + length)
      if (!read_more(socket, bytes)) return false;
    request.body = bytes.substr(end + 4, length);
    bytes.erase(0, end + 4 + length);
    return true;
  }
  static bool read_more(int socket, std::string& bytes) {
    char buffer[1 << 16];
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
    if (got > 0) bytes.append(buffer, static_cast<std::size_t>(got));
    return got > 0;
  }

  // False: the client has disconnected.
  bool send_all(int socket, const WireReply& reply) const {
    double wait = reply.before;
    for (const std::string& part : reply.parts) {
      for (; wait > 0 && !closing_; wait -= 0.01) {
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(wait, 0.01)));
        char peeked = 0;
        if (::recv(socket, &peeked, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return false;
      }
      wait = reply.between;
      std::size_t sent = 0;
      while (sent < part.size()) {
        const ssize_t done = ::send(socket, part.data() + sent, part.size() - sent, MSG_NOSIGNAL);
        if (done <= 0) return false;
        sent += static_cast<std::size_t>(done);
      }
    }
    return !closing_;
  }

  const Answer answer_;
  const int listener_;
  int port_ = 0;
  std::atomic<bool> closing_ = false;
  std::atomic<int> requests_ = 0, count_ = 0, most_ = 0, under_way_ = 0;
  mutable std::atomic<int> closed_early_ = 0;
  mutable std::mutex mutex_;
  std::vector<int> open_;
  std::vector<WireRequest> seen_;
  std::list<std::jthread> connections_;
  std::jthread thread_;
};

}  // namespace agon::test
